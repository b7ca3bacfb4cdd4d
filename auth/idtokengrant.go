package auth

import (
	"context"

	"github.com/google/uuid"

	"basalt/auth/limit"
	"basalt/auth/provider"
)

// IDTokenGrant is an ID token that a client has got from a provider by itself.
type IDTokenGrant struct {
	// Provider is its name; Issuer names it as well.
	Provider, Issuer string
	IDToken          Secret
	// AccessToken came with it, if one did.
	AccessToken Secret
	// Nonce is what the client had its SHA-256, in hexadecimal digits, put into the token of.
	Nonce Secret
	// LinkTo is whose account gains the identity; nil for a sign-in.
	LinkTo *Principal
}

// SignInWithIDToken opens a session for who has an ID token of a provider, made for one of the project's apps.
func (s *Service) SignInWithIDToken(ctx context.Context, caller Caller, in IDTokenGrant) (*Session, error) {
	session, user, err := s.signInWithIDToken(ctx, caller, in)
	s.event(caller, "id_token", user, err)
	return session, err
}

func (s *Service) signInWithIDToken(ctx context.Context, caller Caller, in IDTokenGrant) (*Session, uuid.UUID, error) {
	switch {
	case in.IDToken == "":
		return nil, uuid.Nil, refuse(CodeValidationFailed, "id_token required")
	case in.Provider == "" && in.Issuer == "":
		return nil, uuid.Nil, refuse(CodeValidationFailed, "provider or client_id and issuer required")
	}
	linkTo, err := s.linkableTo(ctx, in.LinkTo)
	if err != nil {
		return nil, linkTo, err
	}
	if refusal, err := s.admit(ctx, caller, limit.Hit{Rule: exchangeRule(), Of: caller.Network()}); err != nil {
		return nil, linkTo, err
	} else if refusal != nil {
		return nil, linkTo, tooOften(refusal)
	}
	p, err := s.providerOfToken(ctx, in)
	if err != nil {
		return nil, linkTo, err
	}
	granted, err := p.ReadIDToken(ctx, provider.IDToken{
		Text: in.IDToken.Reveal(), AccessToken: in.AccessToken.Reveal(), Nonce: in.Nonce.Reveal(),
	})
	if err != nil {
		return nil, linkTo, providerRefusal(err)
	}
	granted.AccessToken = "" // the client has it
	out := &CameBack{}
	user, err := s.settle(ctx, caller, p, granted, settlement{linkTo: linkTo, linker: in.LinkTo, out: out})
	return out.Session, user, err
}

// providerOfToken gives the provider of a token: by its name, else by the issuer. That the token is of this issuer is
// the provider's to check.
func (s *Service) providerOfToken(ctx context.Context, in IDTokenGrant) (*provider.Provider, error) {
	if in.Provider != "" {
		return s.providerNamed(ctx, in.Provider)
	}
	for _, p := range s.options.Providers.Providers {
		if p.Issues(in.Issuer) {
			return p, nil
		}
	}
	presets, err := s.presetsOn(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range presets {
		if p, err := s.asked(ctx, c); err == nil && p.Issues(in.Issuer) { // one that cannot be asked is not in the way of the others
			return p, nil
		}
	}
	return nil, refuse(CodeValidationFailed, "Issuer not allowed")
}
