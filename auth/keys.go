package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/auth/token"
)

const (
	// MinSecretLength is HS256's least key (RFC 7518 §3.2).
	MinSecretLength = 32

	keyIssuer   = "supabase"
	keyLifetime = 10 * 365 * 24 * time.Hour
)

// ErrShortSecret is the refusal of a secret that could be guessed.
var ErrShortSecret = fmt.Errorf("the JWT secret is shorter than %d bytes; make one with: openssl rand -base64 48", MinSecretLength)

// Keys are what a project signs and recognises tokens with.
type Keys struct {
	// Secret signs and verifies HS256 tokens.
	Secret Secret
	// KeyID names the secret in the header of tokens.
	KeyID string
	// AnonKey is the public API key.
	AnonKey string
	// ServiceKey is the API key that passes all policies.
	ServiceKey Secret
	// Signing are the asymmetric keys; nil is none.
	Signing *SigningSet
}

// Signer signs the project's tokens: the current asymmetric key, else the secret.
func (k Keys) Signer() *token.Signer {
	if signer := k.Signing.Signer(); signer != nil {
		return signer
	}
	return token.SharedSigner(k.Secret.Reveal(), k.KeyID)
}

// Database is what keys are kept in: a connection or a pool.
type Database interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// keepSecret stores a value unless another process was first, and gives the one that stands.
// The second arm is empty when the row was committed after this statement began.
const keepSecret = `
with kept as (
    insert into basalt.secrets (name, value)
    values ($1, $2)
    on conflict (name) do nothing
    returning value
)
select value
from kept
union all
select value
from basalt.secrets
where name = $1
limit 1`

const readSecret = `
select value
from basalt.secrets
where name = $1`

// LoadKeys gives the project's keys. A given secret wins; else the one that the first
// process made is read from the database. The API keys are made once for each secret and
// kept, so that all processes, now and later, serve the same.
func LoadKeys(ctx context.Context, db Database, given Secret) (*Keys, error) {
	secret := given.Reveal()
	if secret == "" {
		var err error
		if secret, err = generatedSecret(ctx, db); err != nil {
			return nil, err
		}
	}
	if len(secret) < MinSecretLength {
		return nil, ErrShortSecret
	}
	keys := &Keys{Secret: Secret(secret), KeyID: token.SharedKeyID(secret)}
	pair, err := apiKeys(ctx, db, secret, keys.KeyID)
	if err != nil {
		return nil, err
	}
	keys.AnonKey, keys.ServiceKey = pair.Anon, Secret(pair.Service)
	return keys, nil
}

func generatedSecret(ctx context.Context, db Database) (string, error) {
	secret, err := keep(ctx, db, "jwt_secret", DrawSecret(48).Reveal())
	if err != nil {
		return "", fmt.Errorf("keep JWT secret: %w", err)
	}
	return secret, nil
}

type keyPair struct {
	Anon    string `json:"anon"`
	Service string `json:"service"`
}

func apiKeys(ctx context.Context, db Database, secret, kid string) (keyPair, error) {
	fingerprint := sha256.Sum256([]byte("basalt api keys\x00" + secret))
	var pair keyPair
	now := time.Now().Unix()
	for role, target := range map[string]*string{RoleAnon: &pair.Anon, RoleService: &pair.Service} {
		claims, err := json.Marshal(map[string]any{
			"iss": keyIssuer, "role": role, "iat": now, "exp": now + int64(keyLifetime/time.Second),
		})
		if err != nil {
			return keyPair{}, fmt.Errorf("make API keys: %w", err)
		}
		if *target, err = token.Sign(claims, secret, kid); err != nil {
			return keyPair{}, fmt.Errorf("make API keys: %w", err)
		}
	}
	made, err := json.Marshal(pair)
	if err != nil {
		return keyPair{}, fmt.Errorf("make API keys: %w", err)
	}
	kept, err := keep(ctx, db, "api_keys:"+hex.EncodeToString(fingerprint[:16]), string(made))
	if err != nil {
		return keyPair{}, fmt.Errorf("keep API keys: %w", err)
	}
	if err := json.Unmarshal([]byte(kept), &pair); err != nil {
		return keyPair{}, fmt.Errorf("read API keys: %w", err)
	}
	return pair, nil
}

func keep(ctx context.Context, db Database, name, value string) (string, error) {
	var kept string
	err := db.QueryRow(ctx, keepSecret, name, value).Scan(&kept)
	if errors.Is(err, pgx.ErrNoRows) {
		err = db.QueryRow(ctx, readSecret, name).Scan(&kept)
	}
	return kept, err
}
