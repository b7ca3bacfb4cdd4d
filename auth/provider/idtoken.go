package provider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	// maxToken bounds an ID token, in bytes: it is read before it is known to be anybody's.
	maxToken = 16 << 10
	// maxSkew is how far the clocks of two servers may be apart.
	maxSkew = 30 * time.Second
)

var tenantID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// algorithms are how an ID token may be signed: all with a key that only its issuer has (RFC 8725 §3.1).
var algorithms = [...]string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// verified is an ID token that is believed.
type verified struct {
	token  *oidc.IDToken
	claims claims
}

// IDToken is one that a client has got by itself, from a phone's library say.
type IDToken struct {
	Text string
	// AccessToken came with it, if one did.
	AccessToken string
	// Nonce is what the client had its hash put into the token of.
	Nonce string
}

// ReadIDToken gives the user of an ID token that a client brings.
func (p *Provider) ReadIDToken(ctx context.Context, in IDToken) (*Granted, error) {
	if p.preset.issuer == nil {
		return nil, fault(Unsupported, "the provider has no ID tokens", nil)
	}
	s, err := p.server(ctx)
	if err != nil {
		return nil, err
	}
	v, err := p.verify(ctx, s, in.Text, slices.Concat([]string{p.config.ClientID}, p.config.Audiences), in.AccessToken)
	if err != nil {
		return nil, err
	}
	if !p.config.SkipNonce {
		if (v.token.Nonce != "") != (in.Nonce != "") {
			return nil, fault(BadNonce, "Passed nonce and nonce in id_token should either both exist or not.", nil)
		}
		digest := sha256.Sum256([]byte(in.Nonce))
		if in.Nonce != "" && subtle.ConstantTimeCompare([]byte(hex.EncodeToString(digest[:])), []byte(v.token.Nonce)) != 1 {
			return nil, fault(BadNonce, "Nonces mismatch", nil)
		}
	}
	g := &Granted{Profile: p.read(v.claims), AccessToken: in.AccessToken}
	return g, g.Profile.finish(v.token.Issuer)
}

// verify believes an ID token that the provider has signed for one of the clients (OIDC Core §3.1.3.7). An access
// token is compared with the hash of it, if that is there.
func (p *Provider) verify(ctx context.Context, s *server, raw string, clients []string, accessToken string) (*verified, error) {
	if raw == "" || len(raw) > maxToken {
		return nil, fault(BadToken, "there is no ID token that could be read", nil)
	}
	token, err := s.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, fault(BadToken, "Bad ID token", err)
	}
	v := &verified{token: token, claims: claims{}}
	var text json.RawMessage
	if err = token.Claims(&text); err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		err = decoder.Decode(&v.claims)
	}
	switch {
	case err != nil:
		return nil, fault(BadToken, "Bad ID token", err)
	case p.preset.tenants && !p.issuedByTenant(s, v):
		return nil, fault(BadToken, "the ID token is of another issuer", nil)
	case token.Subject == "":
		return nil, fault(BadToken, "Missing sub claim in id_token", nil)
	case token.IssuedAt.After(time.Now().Add(maxSkew)):
		return nil, fault(BadToken, "the ID token is of the future", nil)
	case !forOneOf(token.Audience, clients):
		return nil, fault(BadAudience, "Unacceptable audience in id_token", nil)
	}
	// With several audiences the token says which of them asked for it. With one it may name an app of the same
	// project, which is none of ours to know.
	if party := v.claims.text("azp"); len(token.Audience) > 1 && party != "" && !slices.Contains(clients, party) {
		return nil, fault(BadAudience, "Unacceptable audience in id_token", nil)
	}
	if accessToken != "" && token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(accessToken); err != nil {
			return nil, fault(BadToken, "the access token does not belong to the ID token", err)
		}
	}
	return v, nil
}

func forOneOf(audience, clients []string) bool {
	return slices.ContainsFunc(audience, func(one string) bool { return one != "" && slices.Contains(clients, one) })
}

// issuedByTenant tells whether a token's issuer is the one that the server names for the token's tenant, and that tenant
// one of those that the authority stands for.
func (p *Provider) issuedByTenant(s *server, v *verified) bool {
	tenant := v.claims.text("tid")
	if !tenantID.MatchString(tenant) || v.token.Issuer != strings.ReplaceAll(s.issuer, "{tenantid}", tenant) {
		return false
	}
	authority := strings.TrimSuffix(p.base, "/v2.0")
	switch authority[strings.LastIndexByte(authority, '/')+1:] {
	case "organizations":
		return tenant != consumers
	case "consumers":
		return tenant == consumers
	}
	return true
}
