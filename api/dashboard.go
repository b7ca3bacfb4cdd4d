package api

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

// administratorsOf makes the rules of the dashboard's administrators. Their passwords wait at the accounts' gate.
func administratorsOf(p *Project, s *Settings, log zerolog.Logger) *administrator.Service {
	return administrator.New(p.DB.Pool(), administrator.Options{
		Gate: p.Auth.Gate(), Passwords: s.passwordParameters(), Policy: s.PasswordPolicy(), Vault: p.Auth.Vault(),
		LimitsOff: s.Limits == "off", AuditRetention: s.AdminAuditRetention, Log: log,
	})
}

// openData makes what the dashboard shows and changes of the database at a URL.
func (s *Server) openData(ctx context.Context, url string) error {
	data, err := admin.OpenData(ctx, admin.DataOptions{
		DatabaseURL: url, Claims: s.project.Auth.ClaimsOf, MigrationsDir: s.settings.MigrationsDir, Exposed: s.settings.Schemas,
		REST: admin.RESTOffer{
			AnonKey: s.project.Keys.AnonKey, Catalog: s.project.Catalogs.Current,
			Aggregates: s.settings.RestAggregates, Plans: s.settings.RestPlan, MaxRows: s.settings.MaxRows,
		},
		Log: s.log,
	})
	if err != nil {
		return err
	}
	s.data = data
	s.closers = append(s.closers, data.Close)
	return nil
}

// dashboard is what the dashboard's API works on.
func (s *Server) dashboard() admin.Options {
	address, err := url.Parse(s.URL)
	if err != nil {
		panic(err) // Check has refused such
	}
	return admin.Options{
		DB:             s.project.DB.Pool(),
		Administrators: s.project.Administrators,
		Secure:         secure(s.settings.TrustedProxies, address),
		URL:            address, Public: s.settings.PublicURL != "", SiteURL: s.settings.SiteURL, Version: s.build.Version,
		Data:           s.data,
		Accounts:       s.project.Auth,
		Templates:      s.project.Templates,
		Settings:       s.describe,
		Mailer:         s.mailer,
		TakeMailServer: s.takeMailServer, MailServer: s.mailServerBody,
		Providers: sync.OnceValues(func() ([]admin.ProviderBody, error) { return s.settings.describeProviders(os.Environ()) }), // as it started
		SAML:      s.settings.SAMLPrivateKey != "",
		Vault:     s.settings.Vault(s.project.DB.Pool(), s.project.Keys.Secret),
		Catalog:   s.project.Catalogs.Current, Outbox: s.project.Outbox, Log: s.log,
		Running: admin.Running{
			Requests: s.requests, KeepRequests: s.settings.LogRequests, Parts: s.parts, Pool: s.project.DB.Stats,
			Keys: s.project.Keys, MailHook: s.settings.HookSendEmail != "", Schemas: s.settings.Schemas,
		},
	}
}

// secure tells of a request whether it came over TLS: to us, to a trusted proxy that says so, or to the public address,
// when that has TLS.
func secure(trusted []string, public *url.URL) func(*http.Request) bool {
	networks := make([]netip.Prefix, len(trusted))
	for i, text := range trusted {
		networks[i] = netip.MustParsePrefix(text) // Check has refused others
	}
	return func(r *http.Request) bool {
		if r.TLS != nil || public.Scheme == "https" && strings.EqualFold(r.Host, public.Host) {
			return true
		}
		if !strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
			return false
		}
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil {
			return false
		}
		for _, network := range networks {
			if network.Contains(peer.Addr().Unmap()) {
				return true
			}
		}
		return false
	}
}
