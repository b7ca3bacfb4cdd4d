package micro

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/factor"
	"basalt/auth/password"
	"basalt/auth/seal"
	"basalt/auth/token"
)

const secret = "a secret of the benchmarks that signs nothing else"

// passwords are the costs that new hashes get, which are OWASP's minimum, and those with the least memory that OWASP
// holds for as strong.
func passwords() []Benchmark {
	const passes = 5
	configured := password.Recommended()
	small := password.Parameters{MemoryKiB: password.LeastMemoryKiB(passes), Passes: passes, Lanes: 1}
	return []Benchmark{
		{Key: "argon2id.configured", Name: "Argon2id as configured by default, OWASP's minimum: " + costs(configured), New: compare(configured)},
		{Key: "argon2id.small", Name: "Argon2id in the least memory that OWASP holds for as strong: " + costs(small), New: compare(small)},
	}
}

func costs(p password.Parameters) string {
	return fmt.Sprintf("%d MiB, t=%d, p=%d", p.MemoryKiB>>10, p.Passes, p.Lanes)
}

func compare(p password.Parameters) func() (func() error, error) {
	return func() (func() error, error) {
		stored := p.Dummy()
		return func() error {
			_, err := password.Verify(stored, "correct horse battery")
			return err
		}, nil
	}
}

// tokens are the algorithms that tokens are signed with.
func tokens() []Benchmark {
	var issue, first, again []Benchmark
	for _, algorithm := range append([]string{"HS256"}, token.PairAlgorithms()...) {
		issue = append(issue, Benchmark{Key: "jwt.issue." + algorithm, Name: "Issue, " + algorithm, New: issuing(algorithm)})
		first = append(first, Benchmark{Key: "jwt.verify." + algorithm, Name: "Verify, " + algorithm + ", seen for the first time", New: verifying(algorithm)})
		again = append(again, Benchmark{Key: "jwt.remembered." + algorithm, Name: "Verify, " + algorithm + ", seen before", New: remembering(algorithm)})
	}
	return append(append(issue, first...), again...)
}

// keysOf makes a signer of an algorithm, and a verifier that believes it and remembers a number of tokens.
func keysOf(algorithm string, remember int) (*token.Signer, *auth.Verifier, error) {
	keys := auth.Keys{Secret: secret, KeyID: token.SharedKeyID(secret)}
	signer := keys.Signer()
	options := auth.VerifierOptions{Remember: remember}
	if algorithm != signer.Algorithm() {
		pair, err := token.NewPair(algorithm)
		if err != nil {
			return nil, nil, err
		}
		signer, options.ForeignKeys = pair.Signer(), token.Ring{pair.Key()}
	}
	return signer, auth.NewVerifier(keys, options), nil
}

// sessionClaims are those of a user's session.
func sessionClaims() []byte {
	now := time.Now()
	return fmt.Appendf(nil, `{"iss":"http://127.0.0.1:8090/auth/v1","sub":%q,"aud":"authenticated","exp":%d,"iat":%d,"email":"someone@example.com",`+
		`"phone":"","app_metadata":{"provider":"email","providers":["email"]},"user_metadata":{"email_verified":true},"role":"authenticated",`+
		`"aal":"aal1","amr":[{"method":"password","timestamp":%d}],"session_id":%q,"is_anonymous":false}`,
		uuid.New(), now.Add(24*time.Hour).Unix(), now.Unix(), now.Unix(), uuid.New())
}

func issuing(algorithm string) func() (func() error, error) {
	return func() (func() error, error) {
		signer, _, err := keysOf(algorithm, 0)
		if err != nil {
			return nil, err
		}
		claims := sessionClaims()
		return func() error {
			_, err := signer.Sign(claims)
			return err
		}, nil
	}
}

// verifying shows a verifier that remembers next to nothing so many tokens in turn that each has been forgotten when it
// comes again.
func verifying(algorithm string) func() (func() error, error) {
	return func() (func() error, error) {
		signer, verifier, err := keysOf(algorithm, 1)
		if err != nil {
			return nil, err
		}
		signed := make([]string, 512)
		for i := range signed {
			if signed[i], err = signer.Sign(sessionClaims()); err != nil {
				return nil, err
			}
		}
		next := 0
		return func() error {
			next = (next + 1) % len(signed)
			_, err := verifier.Verify(signed[next])
			return err
		}, nil
	}
}

func remembering(algorithm string) func() (func() error, error) {
	return func() (func() error, error) {
		signer, verifier, err := keysOf(algorithm, 0)
		if err != nil {
			return nil, err
		}
		signed, err := signer.Sign(sessionClaims())
		if err != nil {
			return nil, err
		}
		return func() error {
			_, err := verifier.Verify(signed)
			return err
		}, nil
	}
}

// secrets are what a second factor takes.
func secrets() []Benchmark {
	return []Benchmark{
		{Key: "totp.seal", Name: "Seal a TOTP secret with AES-256-GCM and open it", New: func() (func() error, error) {
			ring := seal.Ring{seal.Derive(secret, "benchmark")}
			plain, place := factor.NewTOTP("Basalt", "someone@example.com").Secret, seal.Cell{Table: "auth.mfa_factors", Row: uuid.NewString(), Column: "secret"}
			return func() error {
				_, err := ring.Open(ring.Seal(plain, place), place)
				return err
			}, nil
		}},
		{Key: "totp.match", Name: "Compare a TOTP code", New: func() (func() error, error) {
			// The first code of RFC 6238 Appendix B, of which the last six digits are used.
			const key, code = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "287082"
			at := time.Unix(59, 0)
			return func() error {
				if _, fits, err := factor.MatchTOTP(key, code, at); err != nil || !fits {
					return errors.Join(err, errors.New("the code of the standard does not fit"))
				}
				return nil
			}, nil
		}},
	}
}
