package auth

import (
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// How often a network, or somebody at one account, may try.

func signUpRule() limit.Rule {
	return limit.Rule{Name: "signup", Max: 10, Window: time.Hour}
}

func anonymousRule() limit.Rule {
	return limit.Rule{Name: "anonymous", Max: 30, Window: time.Hour}
}

func refreshRule() limit.Rule {
	return limit.Rule{Name: "refresh", Max: 150, Window: 5 * time.Minute}
}

func signInRule() limit.Rule {
	return limit.Rule{Name: "signin", Max: 150, Window: 5 * time.Minute}
}

// guessRule is for one account from one network; it begins anew when the sign-in succeeds.
func guessRule() limit.Rule {
	return limit.Rule{Name: "guess", Max: 10, Window: 5 * time.Minute}
}

// siegeRule is for one account from everywhere. It does not bind networks in which the
// account has a session, so that a siege does not lock its owner out.
func siegeRule() limit.Rule {
	return limit.Rule{Name: "siege", Max: 50, Window: 15 * time.Minute}
}

// changeRule is for guesses of the current password by somebody who holds a session.
func changeRule() limit.Rule {
	return limit.Rule{Name: "change", Max: 10, Window: 5 * time.Minute}
}

// exchangeRule is for codes that are brought for a session.
func exchangeRule() limit.Rule {
	return limit.Rule{Name: "exchange", Max: 150, Window: 5 * time.Minute}
}

// authorizeRule is for sign-ins at other servers that are begun.
func authorizeRule() limit.Rule {
	return limit.Rule{Name: "authorize", Max: 150, Window: 5 * time.Minute}
}

// askRule is for requests of links and codes.
func askRule() limit.Rule {
	return limit.Rule{Name: "ask", Max: 30, Window: 5 * time.Minute}
}

// verifyRule is for links and codes that are brought back.
func verifyRule() limit.Rule {
	return limit.Rule{Name: "verify", Max: 30, Window: 5 * time.Minute}
}

// codeRule is for codes that are tried at one address from one network, codeSiegeRule for those from everywhere. As
// with passwords, a siege does not bind networks in which the account has a session. Both together let somebody who
// guesses at codes of six digits all day succeed once in a thousand days.
func codeRule() limit.Rule {
	return limit.Rule{Name: "code", Max: 5, Window: 15 * time.Minute}
}

func codeSiegeRule() limit.Rule {
	return limit.Rule{Name: "code_siege", Max: 5, Window: 15 * time.Minute}
}

// passkeyRule is for challenges that passkeys sign: from one network to sign in, of one account to be registered.
func passkeyRule() limit.Rule {
	return limit.Rule{Name: "passkey", Max: 30, Window: 5 * time.Minute}
}

// ssoRule is for sign-ins that are begun with an identity provider.
func ssoRule() limit.Rule {
	return limit.Rule{Name: "sso", Max: 30, Window: 5 * time.Minute}
}

// assertionRule is for answers of identity providers. A large office may have one address.
func assertionRule() limit.Rule {
	return limit.Rule{Name: "assertion", Max: 150, Window: 5 * time.Minute}
}

// count adds hits to a batch, but for callers that are never limited.
func (s *Service) count(batch *pgx.Batch, caller Caller, hits ...limit.Hit) *limit.Verdict {
	if caller.Trusted {
		return &limit.Verdict{}
	}
	return s.limits.Queue(batch, hits...)
}
