package auth

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"basalt/auth/password"
	"basalt/store/storetest"
)

const verifierOfTests = Secret("a-verifier-of-forty-three-characters-or-more")

// flows are accounts over a database, one of which begins flows.
type flows struct {
	*testing.T
	db      *storetest.Database
	service *Service
	user    uuid.UUID
}

func newFlows(t *testing.T, o Options) *flows {
	t.Helper()
	t.Parallel()
	db := storetest.New(t)
	keys, err := LoadKeys(t.Context(), db.Pool, "")
	if err != nil {
		t.Fatal(err)
	}
	o.Passwords = password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}
	o.LimitsOff, o.Log = true, zerolog.Nop()
	return &flows{T: t, db: db, service: New(db.Pool, keys, o), user: someUsers(t, db, 1)[0].UserID}
}

// begin begins the flow of a link.
func (f *flows) begin(challenge, method string) uuid.UUID {
	f.Helper()
	read, refusal := f.service.readChallenge(challenge, method)
	if refusal != nil {
		f.Fatal(refusal)
	}
	begun := flow{id: uuid.New(), challenge: read, provider: "email", method: "magiclink", user: f.user, redirect: "https://site.example/back"}
	batch := &pgx.Batch{}
	queueFlow(batch, begun)
	if err := f.service.send(f.Context(), batch); err != nil {
		f.Fatal(err)
	}
	return begun.id
}

func (f *flows) code(id uuid.UUID) Secret {
	f.Helper()
	code, redirect, err := issueCode(f.Context(), f.db.Pool, id, f.user)
	if err != nil {
		f.Fatal(err)
	}
	if redirect != "https://site.example/back" {
		f.Errorf("the code leads to %q", redirect)
	}
	return code
}

// refused fails the test unless an error is a refusal with a code.
func (f *flows) refused(err error, code Code) {
	f.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		f.Errorf("the outcome is %v, not %s", err, code)
	}
}

func (f *flows) alive(session uuid.UUID) (alive bool) {
	f.Helper()
	err := f.db.Pool.QueryRow(f.Context(), `
		select exists (select from auth.sessions where id = $1 and (not_after is null or not_after > now()))
		and exists (select from auth.refresh_tokens where session_id = $1 and not revoked)`, session).Scan(&alive)
	if err != nil {
		f.Fatal(err)
	}
	return alive
}

func TestACodeGivesASessionOnceToWhoHasTheVerifier(t *testing.T) {
	f := newFlows(t, Options{})
	code := f.code(f.begin(challengeOf(verifierOfTests), "S256"))
	_, err := f.service.ExchangeCode(t.Context(), Caller{}, code, verifierOfTests+"x")
	f.refused(err, CodeBadCodeVerifier)
	session, err := f.service.ExchangeCode(t.Context(), Caller{}, code, verifierOfTests)
	if err != nil {
		t.Fatal(err)
	}
	if session.User.ID != f.user || !f.alive(session.ID) {
		t.Errorf("the session %s is of %s", session.ID, session.User.ID)
	}
	_, err = f.service.ExchangeCode(t.Context(), Caller{}, code, verifierOfTests)
	f.refused(err, CodeFlowStateAlreadyUsed)
	if f.alive(session.ID) {
		t.Error("the session outlives the second use of its code")
	}
	_, err = f.service.Refresh(t.Context(), Caller{}, session.RefreshToken)
	f.refused(err, CodeRefreshTokenAlreadyUsed)
}

func TestACodeIsRefused(t *testing.T) {
	f := newFlows(t, Options{})
	expired := f.code(f.begin(challengeOf(verifierOfTests), "s256"))
	f.db.Exec(t, `update auth.flow_state set auth_code_issued_at = now() - interval '6 minutes'`)
	good := f.code(f.begin(challengeOf(verifierOfTests), "s256"))
	banned := f.code(f.begin(challengeOf(verifierOfTests), "s256"))
	for _, tc := range []struct {
		name           string
		code, verifier Secret
		want           Code
	}{
		{"without a code", "", verifierOfTests, CodeValidationFailed},
		{"without a verifier", good, "", CodeValidationFailed},
		{"that nobody was given", "unknown", verifierOfTests, CodeFlowStateNotFound},
		{"that is its own hash", Secret(storedToken(good)), verifierOfTests, CodeFlowStateNotFound},
		{"after five minutes", expired, verifierOfTests, CodeFlowStateExpired},
		{"with a verifier that is too short", good, verifierOfTests[:42], CodeBadCodeVerifier},
		{"with a verifier that is too long", good, Secret(strings.Repeat("a", 129)), CodeBadCodeVerifier},
		{"with the challenge as the verifier", good, Secret(challengeOf(verifierOfTests)), CodeBadCodeVerifier},
		{"with a verifier in other letters", good, Secret(strings.Replace(verifierOfTests.Reveal(), "a", "ä", 1)), CodeBadCodeVerifier},
		{"with a verifier that has a zero byte", good, verifierOfTests + "\x00", CodeBadCodeVerifier},
		{"with a code that has a zero byte", good + "\x00", verifierOfTests, CodeFlowStateNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := f.service.ExchangeCode(t.Context(), Caller{}, tc.code, tc.verifier)
			f.refused(err, tc.want)
		})
	}
	f.db.Exec(t, `update auth.users set banned_until = 'infinity'`)
	_, err := f.service.ExchangeCode(t.Context(), Caller{}, banned, verifierOfTests)
	f.refused(err, CodeUserBanned)
	f.db.Exec(t, `update auth.users set banned_until = null`)
	if _, err := f.service.ExchangeCode(t.Context(), Caller{}, good, verifierOfTests); err != nil {
		t.Errorf("wrong verifiers have used the code up: %v", err)
	}
}

func TestAFlowGivesOneCode(t *testing.T) {
	f := newFlows(t, Options{})
	id := f.begin(challengeOf(verifierOfTests), "s256")
	_, _, err := issueCode(t.Context(), f.db.Pool, id, uuid.New())
	f.refused(err, CodeFlowStateNotFound)
	f.code(id)
	_, _, err = issueCode(t.Context(), f.db.Pool, id, f.user)
	f.refused(err, CodeFlowStateNotFound)
	_, _, err = issueLinkCode(t.Context(), f.db.Pool, f.user, "magiclink")
	f.refused(err, CodeFlowStateNotFound)
	f.begin(challengeOf(verifierOfTests), "s256")
	_, _, err = issueLinkCode(t.Context(), f.db.Pool, f.user, "recovery")
	f.refused(err, CodeFlowStateNotFound)
	if code, redirect, err := issueLinkCode(t.Context(), f.db.Pool, f.user, "magiclink"); err != nil || code == "" || redirect != "https://site.example/back" {
		t.Errorf("the link's code is %d bytes long and leads to %q: %v", len(code), redirect, err)
	}
}

func TestACodeThatManyBringAtOnceGivesOneSessionThatDoesNotLast(t *testing.T) {
	f := newFlows(t, Options{})
	code := f.code(f.begin(challengeOf(verifierOfTests), "s256"))
	var sessions [20]*Session
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			var err error
			if sessions[i], err = f.service.ExchangeCode(t.Context(), Caller{}, code, verifierOfTests); err != nil {
				f.refused(err, CodeFlowStateAlreadyUsed)
			}
		})
	}
	wg.Wait()
	given := 0
	for _, session := range sessions {
		if session == nil {
			continue
		}
		if given++; f.alive(session.ID) {
			t.Error("the session outlives the second use of its code")
		}
	}
	if given != 1 {
		t.Errorf("the code has given %d sessions", given)
	}
}

func TestAChallengeIsReadStrictly(t *testing.T) {
	good := challengeOf(verifierOfTests)
	for _, tc := range []struct {
		name, text, method string
		plain, refused     bool
	}{
		{name: "none"},
		{name: "by s256", text: good, method: "s256"},
		{name: "by S256, as the standard writes it", text: good, method: "S256"},
		{name: "by plain", text: good, method: "plain", refused: true},
		{name: "by plain where that is allowed", text: good, method: "plain", plain: true},
		{name: "by an unknown method", text: good, method: "s512", refused: true},
		{name: "without a method", text: good, refused: true},
		{name: "a method alone", method: "s256", refused: true},
		{name: "too short", text: good[:42], method: "s256", refused: true},
		{name: "too long", text: strings.Repeat("a", 129), method: "s256", refused: true},
		{name: "the longest", text: strings.Repeat("a", 128), method: "s256"},
		{name: "with padding", text: good + "=", method: "s256", refused: true},
		{name: "with a zero byte", text: good + "\x00", method: "s256", refused: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Service{options: Options{PlainChallenges: tc.plain}}
			read, refusal := s.readChallenge(tc.text, tc.method)
			if (refusal != nil) != tc.refused || refusal == nil && read.text != tc.text {
				t.Errorf("it is read as %v, %v", read, refusal)
			}
		})
	}
}

func TestAPlainVerifierIsItsChallengeWhereThatIsAllowed(t *testing.T) {
	f := newFlows(t, Options{PlainChallenges: true})
	code := f.code(f.begin(verifierOfTests.Reveal(), "plain"))
	_, err := f.service.ExchangeCode(t.Context(), Caller{}, code, verifierOfTests+"x")
	f.refused(err, CodeBadCodeVerifier)
	if _, err := f.service.ExchangeCode(t.Context(), Caller{}, code, verifierOfTests); err != nil {
		t.Error(err)
	}
}

// The codes of the database are hashes: who reads it has none.
func TestACodeIsNotInTheDatabase(t *testing.T) {
	f := newFlows(t, Options{})
	code := f.code(f.begin(challengeOf(verifierOfTests), "s256"))
	var found bool
	if err := f.db.Pool.QueryRow(t.Context(), `select exists (select from auth.flow_state f where strpos(f::text, $1) > 0)`, code.Reveal()).Scan(&found); err != nil || found {
		t.Errorf("it is found: %v, %v", found, err)
	}
}
