package auth

import (
	"context"

	"basalt/auth/seal"
)

// DerivedEncryptionKey is the master key of secrets at rest that follows from the JWT secret, by HKDF (RFC 5869):
// processes that agree on the one agree on the other.
func DerivedEncryptionKey(jwtSecret Secret) seal.Key {
	return seal.Derive(jwtSecret.Reveal(), "basalt encryption key of the JWT secret")
}

// SealedColumns are all places in which secrets are kept at rest.
func SealedColumns() []seal.Column {
	return []seal.Column{
		{Table: "auth.mfa_factors", Column: "secret", Row: "id::text"},
		{Table: "auth.mfa_challenges", Column: "otp_code", Row: "id::text"},
		{Table: "auth.flow_state", Column: "provider_access_token", Row: "id::text"},
		{Table: "auth.flow_state", Column: "provider_refresh_token", Row: "id::text"},
		{Table: "auth.custom_oauth_providers", Column: "client_secret", Row: "id::text"},
		{Table: "basalt.signing_keys", Column: "private_key", Row: "id"},
		{Table: "basalt.administrators", Column: "totp_secret", Row: "id::text"},
		{Table: "basalt.settings", Column: "secret", Row: "name"},
		{Table: "basalt.outbox", Column: "body", Row: "id::text || ' ' || channel"},
	}
}

// SettingCell is where a secret among the stored settings is kept.
func SettingCell(name string) seal.Cell {
	return seal.Cell{Table: "basalt.settings", Row: name, Column: "secret"}
}

// encryptionKeys are the master keys that the options give, else the one of the JWT secret.
func encryptionKeys(given seal.Masters, keys *Keys) seal.Masters {
	if given != nil {
		return given
	}
	derived := seal.Ring{DerivedEncryptionKey(keys.Secret)}
	return func() (seal.Ring, error) { return derived, nil }
}

// CheckEncryptionKeys tells whether what is sealed at rest can be opened with the keys that are given.
func (s *Service) CheckEncryptionKeys(ctx context.Context) error { return s.vault.Check(ctx) }

// seal encrypts a secret for the cell that it is to be kept in.
func (s *Service) seal(ctx context.Context, plain Secret, at seal.Cell) (string, error) {
	return sealBy(ctx, s.vault, plain, at)
}

// sealBy is seal by a vault over a connection that is held.
func sealBy(ctx context.Context, vault *seal.Vault, plain Secret, at seal.Cell) (string, error) {
	text, err := vault.Seal(ctx, plain.Reveal(), at)
	if err != nil {
		return "", unexpected("A secret could not be encrypted", err)
	}
	return text, nil
}

// unseal gives the secret that a cell keeps. Stale tells that it should be sealed anew and written back: it came in
// clear with a dump, or its key was replaced.
func (s *Service) unseal(ctx context.Context, text string, at seal.Cell) (plain Secret, stale bool, err error) {
	return unsealBy(ctx, s.vault, text, at)
}

// unsealBy is unseal by a vault over a connection that is held.
func unsealBy(ctx context.Context, vault *seal.Vault, text string, at seal.Cell) (plain Secret, stale bool, err error) {
	opened, stale, err := vault.Open(ctx, text, at)
	if err != nil {
		return "", false, unexpected("A secret could not be decrypted", err)
	}
	return Secret(opened), stale, nil
}
