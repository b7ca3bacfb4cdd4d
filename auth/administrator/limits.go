package administrator

import (
	"context"
	"time"

	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/limit"
)

// How often a network, or somebody at one account, may try. What is counted for an account is counted for each network
// by itself, so that nobody locks another out; the tries of all networks together bind only those in which the account
// has no session.

func signInRule() limit.Rule {
	return limit.Rule{Name: "admin_signin", Max: 60, Window: 5 * time.Minute}
}

// guessRule and guessDayRule are for one account from one network: a few tries at once, then longer and longer pauses.
func guessRule() limit.Rule {
	return limit.Rule{Name: "admin_guess", Max: 5, Window: time.Minute}
}

func guessHourRule() limit.Rule {
	return limit.Rule{Name: "admin_guess_hour", Max: 20, Window: time.Hour}
}

func guessDayRule() limit.Rule {
	return limit.Rule{Name: "admin_guess_day", Max: 60, Window: 24 * time.Hour}
}

// siegeRule is for one account from everywhere.
func siegeRule() limit.Rule {
	return limit.Rule{Name: "admin_siege", Max: 100, Window: 15 * time.Minute}
}

// codeRule and codeDayRule are for codes of the time: of one account, by those who know its password, and of one session
// that asks for more. Three codes in a million are right at any time.
func codeRule() limit.Rule {
	return limit.Rule{Name: "admin_code", Max: 10, Window: 15 * time.Minute}
}

func codeDayRule() limit.Rule {
	return limit.Rule{Name: "admin_code_day", Max: 60, Window: 24 * time.Hour}
}

// proofRule is for proofs that somebody who is signed in gives once more, and for tries of a first code.
func proofRule() limit.Rule {
	return limit.Rule{Name: "admin_proof", Max: 10, Window: 5 * time.Minute}
}

// linkRule is for links that are brought back.
func linkRule() limit.Rule {
	return limit.Rule{Name: "admin_link", Max: 30, Window: 5 * time.Minute}
}

// passkeyRule is for challenges that passkeys sign.
func passkeyRule() limit.Rule {
	return limit.Rule{Name: "admin_passkey", Max: 30, Window: 5 * time.Minute}
}

// mailTestRule is for mails of one administrator that try a mail server: each one connects to a host of their choice.
func mailTestRule() limit.Rule {
	return limit.Rule{Name: "admin_mail_test", Max: 10, Window: 5 * time.Minute}
}

// AdmitMailTest counts a mail by which an administrator tries a mail server.
func (s *Service) AdmitMailTest(ctx context.Context, by uuid.UUID) error {
	return s.admit(ctx, limit.Hit{Rule: mailTestRule(), Of: by.String()})
}

// guessHits are the tries of one network at an address.
func guessHits(caller auth.Caller, email string) []limit.Hit {
	of := caller.Network() + " " + email
	return []limit.Hit{{Rule: guessRule(), Of: of}, {Rule: guessHourRule(), Of: of}, {Rule: guessDayRule(), Of: of}}
}

func codeHits(caller auth.Caller, id uuid.UUID) []limit.Hit {
	of := caller.Network() + " " + id.String()
	return []limit.Hit{{Rule: codeRule(), Of: of}, {Rule: codeDayRule(), Of: of}}
}

// proofHits are the proofs of one session.
func proofHits(session uuid.UUID) []limit.Hit {
	return []limit.Hit{{Rule: proofRule(), Of: session.String()}, {Rule: codeDayRule(), Of: session.String()}}
}

// admit counts hits in a flight of their own, before what they try is looked at.
func (s *Service) admit(ctx context.Context, hits ...limit.Hit) error {
	verdict, err := s.limits.Take(ctx, s.db, hits...)
	if err != nil {
		return err
	}
	if refusal := verdict.Refused(); refusal != nil {
		return tooOften(refusal)
	}
	return nil
}
