package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
)

// oauthState is what a provider hands back: which sign-in it answers, and a proof that this server began it, in the
// browser that comes back (RFC 6749 §10.12). All that the sign-in needs beside is computed from its id: the database
// keeps no secret of it, and the URL shows none.
type oauthState struct {
	id  uuid.UUID
	key []byte
}

// oauthStateOf gives the state of a flow.
func (s *Service) oauthStateOf(id uuid.UUID) oauthState { return oauthState{id: id, key: s.chainKey} }

// text is the parameter `state`. The browser's secret is empty where none could be left with it.
func (o oauthState) text(browser Secret) string {
	return o.id.String() + "." + o.derived("state", browser.Reveal())
}

// nonce is what the ID token has to hold, verifier the other half of the challenge that the provider is given.
func (o oauthState) nonce() string    { return o.derived("nonce", "") }
func (o oauthState) verifier() string { return o.derived("verifier", "") }

func (o oauthState) derived(use, of string) string {
	mac := hmac.New(sha256.New, o.key)
	mac.Write([]byte("basalt oauth " + use + "\x00" + o.id.String() + "\x00" + of))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// readOAuthState gives the flow of a state that this server has made, for one of the browser's secrets or for none.
func (s *Service) readOAuthState(text string, browsers []Secret) (o oauthState, bound, ok bool) {
	name, _, _ := strings.Cut(text, ".")
	id, err := uuid.Parse(name)
	if err != nil || len(name) != len(uuid.Nil.String()) {
		return oauthState{}, false, false
	}
	o = s.oauthStateOf(id)
	for _, browser := range browsers {
		if browser != "" && Secret(text).Equal(Secret(o.text(browser))) {
			return o, true, true
		}
	}
	return o, false, Secret(text).Equal(Secret(o.text("")))
}
