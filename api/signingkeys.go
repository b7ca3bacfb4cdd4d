package api

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"basalt/auth"
)

// keyringOf reads the keys that tokens are signed with.
func keyringOf(ctx context.Context, p *Project, s *Settings, log zerolog.Logger) (*auth.Keyring, error) {
	given, err := s.signingKeys()
	if err != nil {
		return nil, fmt.Errorf("read --jwt-signing-keys: %w", err) // Check has refused such
	}
	pool := p.DB.Pool()
	return auth.NewKeyring(ctx, *p.Keys, auth.KeyringOptions{
		DB: pool, Vault: s.Vault(pool, p.Keys.Secret), Given: given, Log: log,
	})
}
