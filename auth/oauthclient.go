package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// OAuthServer is whether and how third parties can have users of this project sign in at them (RFC 6749 as OAuth 2.1
// has it, OpenID Connect Core).
type OAuthServer struct {
	On bool
	// Registration lets anybody register a client (RFC 7591).
	Registration bool
	// ConsentPath is the page of the site where users decide; it gets `?authorization_id=`.
	ConsentPath string
}

// Methods by which a client proves who it is at the token endpoint (RFC 7591 §2).
const (
	ClientSecretBasic = "client_secret_basic"
	ClientSecretPost  = "client_secret_post"
	ClientPublic      = "none"
)

// Grants of the token endpoint.
const (
	GrantCode    = "authorization_code"
	GrantRefresh = "refresh_token"
)

// OAuthClient is a third party.
type OAuthClient struct {
	ID         uuid.UUID
	Name       string
	URI        string
	LogoURI    string
	Redirects  []string
	Grants     []string
	AuthMethod string
	// Dynamic is set when it has registered itself.
	Dynamic   bool
	CreatedAt *time.Time
	UpdatedAt *time.Time

	secretHash string
}

// Public tells whether the client has no secret: an app on a user's device could not keep one.
func (c *OAuthClient) Public() bool { return c.AuthMethod == ClientPublic }

// Allows tells whether the client may use a grant.
func (c *OAuthClient) Allows(grant string) bool { return slices.Contains(c.Grants, grant) }

const (
	clientColumns = `
    c.id,
    c.client_name,
    c.client_uri,
    c.logo_uri,
    c.redirect_uris,
    c.grant_types,
    c.token_endpoint_auth_method,
    c.registration_type,
    c.created_at,
    c.updated_at,
    c.client_secret_hash`

	clientByID = `
select` + clientColumns + `
from auth.oauth_clients c
where c.id = $1
and c.deleted_at is null`

	listClients = `
select` + clientColumns + `
from auth.oauth_clients c
where c.deleted_at is null
order by c.created_at desc, c.id
offset $1
limit $2`

	countClients = `
select count(*)
from auth.oauth_clients
where deleted_at is null`

	insertClient = `
insert into auth.oauth_clients as c (
    id, client_secret_hash, registration_type, redirect_uris, grant_types, client_name, client_uri, logo_uri,
    client_type, token_endpoint_auth_method, created_at, updated_at
)
values ($1, $2, $3::auth.oauth_registration_type, $4, $5, $6, $7, $8, $9::auth.oauth_client_type, $10, $11, $11)
returning` + clientColumns

	updateClient = `
update auth.oauth_clients c
set redirect_uris = coalesce($2, redirect_uris),
    grant_types = coalesce($3, grant_types),
    client_name = coalesce($4, client_name),
    client_uri = coalesce($5, client_uri),
    logo_uri = coalesce($6, logo_uri),
    token_endpoint_auth_method = coalesce($7, token_endpoint_auth_method),
    client_secret_hash = coalesce($8, client_secret_hash),
    updated_at = clock_timestamp()
where c.id = $1
and c.deleted_at is null
returning` + clientColumns

	deleteClient = `
update auth.oauth_clients
set deleted_at = clock_timestamp(),
    updated_at = clock_timestamp()
where id = $1
and deleted_at is null`

	endClientSessions = `
delete from auth.sessions
where oauth_client_id = $1`

	dropClientAuthorizations = `
delete from auth.oauth_authorizations
where client_id = $1`
)

// listMark divides what the database keeps as one text, as Supabase's own rows do.
const listMark = ","

// client reads clientColumns.
func (r *row) client() *OAuthClient {
	c := &OAuthClient{ID: r.id(), Name: r.text(), URI: r.text(), LogoURI: r.text()}
	c.Redirects, c.Grants = splitList(r.text()), splitList(r.text())
	c.AuthMethod, c.Dynamic = r.text(), r.text() == "dynamic"
	c.CreatedAt, c.UpdatedAt, c.secretHash = r.time(), r.time(), r.text()
	return c
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, listMark)
}

// scanClient is for one row of clientColumns; without one the refusal is that there is no such client.
func scanClient(found pgx.Row) (*OAuthClient, error) {
	var c *OAuthClient
	err := found.Scan(reader(func(r *row) { c = r.client() }))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, refuse(CodeOAuthClientNotFound, "OAuth client not found")
	case err != nil:
		return nil, err
	}
	return c, nil
}

// OAuthServer tells whether and how the project is an OAuth server.
func (s *Service) OAuthServer() OAuthServer { return s.options.OAuthServer }

// SigningAlgorithms are those by which others can verify tokens: none where a shared secret signs.
func (s *Service) SigningAlgorithms() []string {
	if signer := s.signer.Load(); signer.Asymmetric() {
		return []string{signer.Algorithm()}
	}
	return []string{}
}

// OAuthClient gives a client.
func (s *Service) OAuthClient(ctx context.Context, id uuid.UUID) (*OAuthClient, error) {
	return scanClient(s.pool.QueryRow(ctx, clientByID, id))
}

// OAuthClients gives a page of the clients, the newest first, and how many there are in all.
func (s *Service) OAuthClients(ctx context.Context, page, perPage int) (found []*OAuthClient, total int, err error) {
	batch := &pgx.Batch{}
	batch.Queue(countClients).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue(listClients, (int64(page)-1)*int64(perPage), perPage).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(reader(func(r *row) { found = append(found, r.client()) })); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	err = s.send(ctx, batch)
	return found, total, err
}

// RegisterOAuthClient makes a client and gives its secret, which is empty for public ones and never told again. Dynamic
// says that the client registers itself.
func (s *Service) RegisterOAuthClient(ctx context.Context, caller Caller, in ClientChange, dynamic bool) (*OAuthClient, Secret, error) {
	c, secret, err := s.registerClient(ctx, caller, in, dynamic)
	s.event(caller, "oauth_client_register", uuid.Nil, err)
	return c, secret, err
}

func (s *Service) registerClient(ctx context.Context, caller Caller, in ClientChange, dynamic bool) (*OAuthClient, Secret, error) {
	if dynamic {
		refusal, err := s.admit(ctx, caller, limit.Hit{Rule: registrationRule(), Of: caller.Network()})
		switch {
		case err != nil:
			return nil, "", err
		case refusal != nil:
			return nil, "", tooOften(refusal)
		}
	}
	method, refusal := in.method()
	if refusal != nil {
		return nil, "", refusal
	}
	if in.Redirects == nil {
		return nil, "", invalidClient("redirect_uris is required")
	}
	if refusal := in.check(); refusal != nil {
		return nil, "", refusal
	}
	grants := []string{GrantCode, GrantRefresh}
	if in.Grants != nil && len(*in.Grants) > 0 {
		grants = *in.Grants
	}
	kind, registration := "confidential", "manual"
	var secret Secret
	var hash *string
	if method == ClientPublic {
		kind = "public"
	} else {
		secret, hash = newClientSecret()
	}
	if dynamic {
		registration = "dynamic"
	}
	c, err := scanClient(s.pool.QueryRow(ctx, insertClient, uuid.New(), hash, registration, strings.Join(*in.Redirects, listMark),
		strings.Join(grants, listMark), in.Name, in.URI, in.LogoURI, kind, method, now()))
	return c, secret, err
}

// UpdateOAuthClient changes a client.
func (s *Service) UpdateOAuthClient(ctx context.Context, caller Caller, id uuid.UUID, in ClientChange) (*OAuthClient, error) {
	c, err := s.updateClient(ctx, id, in)
	s.event(caller, "oauth_client_update", uuid.Nil, err)
	return c, err
}

func (s *Service) updateClient(ctx context.Context, id uuid.UUID, in ClientChange) (*OAuthClient, error) {
	if in == (ClientChange{}) {
		return nil, invalidClient("No fields provided for update")
	}
	if refusal := in.check(); refusal != nil {
		return nil, refusal
	}
	if in.AuthMethod != nil {
		current, err := s.OAuthClient(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case current.Public() != (*in.AuthMethod == ClientPublic):
			return nil, invalidClient("token_endpoint_auth_method cannot make a client with a secret of one without, or the other way round")
		}
		if _, refusal := in.method(); refusal != nil {
			return nil, refusal
		}
	}
	return scanClient(s.pool.QueryRow(ctx, updateClient, id, joined(in.Redirects), joined(in.Grants), in.Name, in.URI, in.LogoURI, in.AuthMethod, nil))
}

func joined(list *[]string) *string {
	if list == nil {
		return nil
	}
	text := strings.Join(*list, listMark)
	return &text
}

// RenewClientSecret gives a client a new secret in place of the old one.
func (s *Service) RenewClientSecret(ctx context.Context, caller Caller, id uuid.UUID) (*OAuthClient, Secret, error) {
	c, secret, err := s.renewClientSecret(ctx, id)
	s.event(caller, "oauth_client_secret", uuid.Nil, err)
	return c, secret, err
}

func (s *Service) renewClientSecret(ctx context.Context, id uuid.UUID) (*OAuthClient, Secret, error) {
	c, err := s.OAuthClient(ctx, id)
	switch {
	case err != nil:
		return nil, "", err
	case c.Public():
		return nil, "", invalidClient("Cannot regenerate secret for public client")
	}
	secret, hash := newClientSecret()
	c, err = scanClient(s.pool.QueryRow(ctx, updateClient, id, nil, nil, nil, nil, nil, nil, hash))
	return c, secret, err
}

// DeleteOAuthClient forgets a client and ends the sessions that it holds.
func (s *Service) DeleteOAuthClient(ctx context.Context, caller Caller, id uuid.UUID) error {
	err := s.deleteClient(ctx, id)
	s.event(caller, "oauth_client_delete", uuid.Nil, err)
	return err
}

func (s *Service) deleteClient(ctx context.Context, id uuid.UUID) error {
	if _, err := s.OAuthClient(ctx, id); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteClient, id)
	batch.Queue(dropClientAuthorizations, id)
	batch.Queue(endClientSessions, id)
	return s.send(ctx, batch)
}

func invalidClient(message string) *Error { return refuse(CodeValidationFailed, message) }

// newClientSecret draws a secret, and gives it with its hash.
func newClientSecret() (Secret, *string) {
	secret := DrawSecret(secretLength)
	hash := clientSecretHash(secret)
	return secret, &hash
}

func clientSecretHash(secret Secret) string {
	digest := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// proves tells whether a secret is the client's.
func (c *OAuthClient) proves(secret Secret) bool {
	return c.secretHash != "" && subtle.ConstantTimeCompare([]byte(clientSecretHash(secret)), []byte(c.secretHash)) == 1
}

// registrationRule is for clients that register themselves.
func registrationRule() limit.Rule {
	return limit.Rule{Name: "registration", Max: 20, Window: time.Hour}
}
