package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"basalt/auth/provider"
)

// ProviderOptions are the settings of sign-ins at other servers.
type ProviderOptions struct {
	// Providers are the servers, each with a name of its own.
	Providers []*provider.Provider
	// Off are the names of those that are switched off: nothing that administrators set switches them on.
	Off []string
	// Client reaches the servers of providers that administrators add; nil reaches those with public addresses.
	Client *http.Client
	// Callback is where these lead back to.
	Callback string
	// ManualLinking lets users add identities to their account.
	ManualLinking bool
}

// providerNamed gives the provider that a client asks for.
func (s *Service) providerNamed(ctx context.Context, name string) (*provider.Provider, error) {
	if name == "" {
		return nil, refuse(CodeValidationFailed, "Unsupported provider: missing provider name")
	}
	for _, p := range s.options.Providers.Providers {
		if p.Name() == name {
			return p, nil
		}
	}
	if strings.HasPrefix(name, customPrefix) || isPreset(name) && !slices.Contains(s.options.Providers.Off, name) {
		return s.custom(ctx, name)
	}
	return nil, refuse(CodeValidationFailed, "Unsupported provider: provider is not enabled")
}

// ProviderCallback is where the servers that sign users in are told to lead back to.
func (s *Service) ProviderCallback() string { return s.options.Providers.Callback }

// isPreset tells whether a provider is built in.
func isPreset(name string) bool { return slices.Contains(provider.Names(), name) }

// Providers are the names of the servers that sign users in, but for those of administrators' own.
func (s *Service) Providers(ctx context.Context) ([]string, error) {
	names, err := s.presetsOn(ctx)
	for _, p := range s.options.Providers.Providers {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// presetsOn are the names of the built-in providers that administrators have set and nobody has switched off.
func (s *Service) presetsOn(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, presetsOn)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(s.options.Providers.Off, name) }), err
}

// providerRefusal says in the words of the accounts API what is wrong with a server or what came from it.
func providerRefusal(err error) error {
	var fault *provider.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch fault.Kind {
	case provider.Refused:
		return &Error{Code: CodeBadOAuthCallback, Message: "Unable to exchange external code", Cause: err}
	case provider.BadToken:
		return &Error{Code: CodeValidationFailed, Message: "Bad ID token", Cause: err}
	case provider.BadAudience, provider.BadNonce:
		return &Error{Code: CodeValidationFailed, Message: fault.Reason, Cause: err}
	case provider.Unsupported:
		return &Error{Code: CodeOAuthProviderNotSupported, Message: "The provider has no ID tokens", Cause: err}
	}
	return &Error{
		Code: CodeUnexpectedFailure, Status: http.StatusBadGateway, Message: "The provider cannot be reached: " + innermost(fault), Cause: err,
	}
}

// innermost is the reason that the others follow from. What caused it, with addresses of the inside, is for the log.
func innermost(fault *provider.Error) string {
	for next := fault; errors.As(fault.Cause, &next); {
		fault = next
	}
	return fault.Reason
}
