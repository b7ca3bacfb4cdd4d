package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
)

// CustomProviders lists them, of one type or all.
func (s *Service) CustomProviders(ctx context.Context, kind string) ([]*CustomProvider, error) {
	if kind != "" && kind != CustomOIDC && kind != CustomOAuth2 {
		return nil, refuse(CodeValidationFailed, "type must be either 'oauth2' or 'oidc'")
	}
	return s.storedProviders(ctx, kind)
}

func (s *Service) storedProviders(ctx context.Context, kind string) ([]*CustomProvider, error) {
	rows, err := s.pool.Query(ctx, customAll, kind)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*CustomProvider, error) { return scanCustom(row) })
}

// CustomProvider finds one.
func (s *Service) CustomProvider(ctx context.Context, identifier string) (*CustomProvider, error) {
	if refusal := nobodys(identifier); refusal != nil {
		return nil, refusal
	}
	return scanCustom(s.pool.QueryRow(ctx, customByName, identifier))
}

// CreateCustomProvider adds one.
func (s *Service) CreateCustomProvider(ctx context.Context, caller Caller, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	if in.Type != CustomOIDC && in.Type != CustomOAuth2 {
		return nil, refuse(CodeValidationFailed, "provider_type must be either 'oauth2' or 'oidc'")
	}
	return s.storeProvider(ctx, caller, in, record)
}

func (s *Service) storeProvider(ctx context.Context, caller Caller, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	c := &CustomProvider{ID: uuid.New(), Type: in.Type, Identifier: in.Identifier, PKCE: true, Enabled: true}
	c.apply(in)
	var secret Secret
	set(&secret, in.ClientSecret)
	if err := s.checkCustom(c, secret); err != nil {
		return nil, err
	}
	var err error
	if c.secret, err = s.seal(ctx, secret, customCell(c.ID)); err != nil {
		return nil, err
	}
	c.CreatedAt = now()
	c.UpdatedAt = c.CreatedAt
	batch := &pgx.Batch{}
	batch.Queue(insertCustom, append(c.parameters(c.CreatedAt), maxCustomProviders)...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return refuse(CodeOverCustomProviderQuota, "Maximum number of custom OAuth/OIDC providers reached")
		}
		return nil
	})
	_, err = recorded(ctx, s, record, func(db limit.Sender) (*CustomProvider, error) { return c, db.SendBatch(ctx, batch).Close() })
	if isUniqueViolation(err, "custom_oauth_providers_identifier_key") {
		err = refuse(CodeConflict, "A custom OAuth provider with this identifier already exists")
	}
	s.event(caller, "custom_provider_create", uuid.Nil, err)
	return c, err
}

// UpdateCustomProvider changes one.
func (s *Service) UpdateCustomProvider(ctx context.Context, caller Caller, identifier string, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	var c *CustomProvider
	if refusal := nobodys(identifier); refusal != nil {
		return nil, refusal
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var err error
		if c, err = scanCustom(tx.QueryRow(ctx, customToChange, identifier)); err != nil {
			return err
		}
		before := c.askedAt()
		c.apply(in)
		if c.askedAt() != before && in.ClientSecret == nil {
			// Whoever may change an address and not see the secret would else have it sent to an address of their own.
			return refuse(CodeValidationFailed, "client_secret is required with another issuer, discovery_url or token_url, which it is sent to")
		}
		vault := s.vault.Over(tx)
		var secret Secret
		if set(&secret, in.ClientSecret); in.ClientSecret == nil { // one that no key opens any more can be set anew
			if secret, _, err = unsealBy(ctx, vault, c.secret, customCell(c.ID)); err != nil {
				return err
			}
		}
		if err := s.checkCustom(c, secret); err != nil {
			return err
		}
		if c.secret, err = sealBy(ctx, vault, secret, customCell(c.ID)); err != nil {
			return err
		}
		c.UpdatedAt = now()
		if _, err = tx.Exec(ctx, updateCustom, c.parameters(c.UpdatedAt)...); err != nil {
			return err
		}
		return record.write(tx, c)
	})
	s.event(caller, "custom_provider_update", uuid.Nil, err)
	return c, err
}

// DeleteCustomProvider removes one. Its identities stay: they open no account while it is gone.
func (s *Service) DeleteCustomProvider(ctx context.Context, caller Caller, identifier string, record Record[*CustomProvider]) error {
	if refusal := nobodys(identifier); refusal != nil {
		return refusal
	}
	_, err := recorded(ctx, s, record, func(db limit.Sender) (c *CustomProvider, err error) {
		batch := &pgx.Batch{}
		batch.Queue(deleteCustom, identifier).QueryRow(func(row pgx.Row) (err error) { c, err = scanCustom(row); return err })
		err = db.SendBatch(ctx, batch).Close()
		return c, err
	})
	s.event(caller, "custom_provider_delete", uuid.Nil, err)
	return err
}
