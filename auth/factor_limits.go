package auth

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// The tries at one account's second factors, of which three codes in a million are right at any time. A network has
// factorCodeRule and factorDayRule, which begin anew when a code is right; all networks in which the account has no
// session that has proved a factor have factorSiegeRule together. So somebody who knows the password finds a code with a
// chance below a thousandth a day, and cannot lock the owner out where they are at home.

func factorCodeRule() limit.Rule {
	return limit.Rule{Name: "factor_code", Max: 10, Window: 15 * time.Minute}
}

func factorDayRule() limit.Rule {
	return limit.Rule{Name: "factor_day", Max: 100, Window: 24 * time.Hour}
}

func factorSiegeRule() limit.Rule {
	return limit.Rule{Name: "factor_siege", Max: 200, Window: 24 * time.Hour}
}

// enrollRule is for factors that one account enrolls.
func enrollRule() limit.Rule {
	return limit.Rule{Name: "factor_enroll", Max: 30, Window: time.Hour}
}

// factorRule is for challenges and proofs of second factors from one network.
func factorRule() limit.Rule {
	return limit.Rule{Name: "factor", Max: 15, Window: time.Minute}
}

// factorTries are the counts of codes tried.
type factorTries struct{ verdict *limit.Verdict }

// countCode counts a try of a code for one of an account's factors.
func (s *Service) countCode(batch *pgx.Batch, caller Caller, user, id uuid.UUID) factorTries {
	hits := append(factorHits(caller, user, id),
		limit.Hit{Rule: factorRule(), Of: caller.Network()},
		limit.Hit{Rule: factorSiegeRule(), Of: user.String() + " " + id.String()})
	return factorTries{s.count(batch, caller, hits...)}
}

// factorHits are the tries of one network at a factor.
func factorHits(caller Caller, user, id uuid.UUID) []limit.Hit {
	of := caller.Network() + " " + user.String() + " " + id.String()
	return []limit.Hit{{Rule: factorCodeRule(), Of: of}, {Rule: factorDayRule(), Of: of}}
}

// refused gives why no more codes are looked at. A siege does not bind networks that the account is known in.
func (t factorTries) refused(known bool) *limit.Refusal {
	if refusal := t.verdict.Refused(factorRule(), factorCodeRule(), factorDayRule()); refusal != nil {
		return refusal
	}
	if known {
		return nil
	}
	return t.verdict.Refused(factorSiegeRule())
}
