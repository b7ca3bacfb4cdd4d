package auth

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/sso"
)

const (
	// lockPerson lets those who sign in by one identity provider as one person, or under one address, go one after the
	// other: there must be one account at the end.
	lockPerson = `
select pg_catalog.pg_advisory_xact_lock(hashtextextended(key, 0))
from unnest($1::text[]) as k (key)
order by key`

	// findPerson looks for accounts by the name that the identity provider knows its user by, then by the address among
	// its other users: its names may have changed. Accounts with the same address that came another way are other ones.
	findPerson = `
select u.id, i.provider_id = $2, coalesce(u.banned_until > now(), false), u.raw_user_meta_data
from auth.identities i
join auth.users u on u.id = i.user_id
where i.provider = $1
and (i.provider_id = $2 or i.email = $3)
order by i.provider_id = $2 desc, u.created_at, u.id`

	insertPerson = `
with made as (
    insert into auth.users (
        instance_id, id, aud, role, email, email_confirmed_at,
        confirmation_token, recovery_token, email_change_token_new, email_change,
        raw_app_meta_data, raw_user_meta_data, created_at, updated_at, is_sso_user
    )
    values (
        '00000000-0000-0000-0000-000000000000', $1, 'authenticated', 'authenticated', $2, $3,
        '', '', '', '',
        $4, $5, $3, $3, true
    )
    returning id
)
insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
select gen_random_uuid(), $6, id, $5, $7, $3, $3, $3
from made`

	// refreshPerson takes over what the identity provider says now. A name that is new to the account becomes an identity
	// of it.
	refreshPerson = `
with known as (
    insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
    values (gen_random_uuid(), $2, $1, $4, $3, $5, $5, $5)
    on conflict (provider_id, provider) do update
    set identity_data = excluded.identity_data,
        last_sign_in_at = excluded.last_sign_in_at,
        updated_at = excluded.updated_at
)
update auth.users
set raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || $4,
    updated_at = $5
where id = $1`
)

// person is whom an identity provider vouches for.
type person struct {
	// id is that of the account, if one has to be made.
	id      uuid.UUID
	subject string
	email   string
	// known is the address where it is good for finding an account: that of one mailbox, however it is written.
	known *string
	// data is what the account keeps of it.
	data json.RawMessage
}

// maxSubject bounds the name of a user at an identity provider (SAML Core §8.3.7 allows 256 characters).
const maxSubject = 1024

// person reads an assertion by the mapping of its identity provider.
func (c *connection) person(a *sso.Assertion) (*person, *Error) {
	subject := a.Subject()
	switch {
	case subject == "":
		return nil, refuse(CodeSAMLAssertionNoUserID, "SAML Assertion did not contain a persistent Subject Identifier attribute or Subject NameID uniquely identifying this user")
	case len(subject) > maxSubject:
		return nil, refuse(CodeSAMLAssertionNoUserID, "The Subject Identifier of the SAML Assertion is too long")
	}
	claims := c.mapping.Claims(a)
	text, _ := claims["email"].(string)
	if text == "" {
		text = a.Email()
	}
	if text == "" {
		return nil, refuse(CodeSAMLAssertionNoEmail, "SAML Assertion does not contain an email address")
	}
	email, refusal := normalizeEmail(text)
	if refusal != nil {
		return nil, refusal
	}
	raw, err := json.Marshal(sso.Identity(c.entityID, subject, email, claims))
	if err != nil {
		return nil, unexpected("Mapped claims from provider could not be serialized into JSON", err)
	}
	data, refusal := readMetadata("The attributes of the SAML Assertion", raw, maxUserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	kept, err := data.text()
	if err != nil {
		return nil, unexpected("Mapped claims from provider could not be serialized into JSON", err)
	}
	p := &person{id: uuid.New(), subject: subject, email: email, data: kept}
	if SameMailbox(text, email) {
		p.known = &email
	}
	return p, nil
}

// known is an account that may be a person's.
type known struct {
	id       uuid.UUID
	exact    bool
	banned   bool
	metadata json.RawMessage
}

// queueFindPerson adds to a batch who a person may be.
func queueFindPerson(batch *pgx.Batch, c *connection, p *person) *[]known {
	found := &[]known{}
	batch.Queue(lockPerson, []string{c.name() + " " + p.subject, c.name() + " " + p.email})
	batch.Queue(findPerson, c.name(), p.subject, p.known).Query(func(rows pgx.Rows) error {
		var k known
		_, err := pgx.ForEachRow(rows, []any{&k.id, &k.exact, &k.banned, &k.metadata}, func() error {
			*found = append(*found, k)
			k.metadata = nil
			return nil
		})
		return err
	})
	return found
}

// preview is the account that would be made of a person.
func (p *person) preview(c *connection, at time.Time) (*User, error) {
	app, err := appMetadata(c.name()).text()
	if err != nil {
		return nil, err
	}
	return &User{
		ID: p.id, Audience: audience, Role: RoleAuthenticated, Email: p.email, EmailConfirmedAt: &at, ConfirmedAt: &at,
		AppMetadata: app, UserMetadata: p.data, CreatedAt: &at, UpdatedAt: &at,
	}, nil
}

// mayBeMade asks the hook whether a person who has no account yet may get one.
func (s *Service) mayBeMade(ctx context.Context, caller Caller, c *connection, p *person) error {
	if s.hooks.BeforeUserCreated == nil {
		return nil
	}
	batch := &pgx.Batch{}
	found := queueFindPerson(batch, c, p)
	if err := s.send(ctx, batch); err != nil || len(*found) > 0 {
		return err
	}
	u, err := p.preview(c, now())
	if err != nil {
		return err
	}
	return s.beforeUserCreated(ctx, caller, u)
}

// keepPerson gives the account of a person: the one that there is, brought up to date, or a new one.
func (s *Service) keepPerson(ctx context.Context, tx pgx.Tx, c *connection, p *person, found *[]known) (uuid.UUID, error) {
	if len(*found) == 0 {
		return s.makePerson(ctx, tx, c, p)
	}
	k := (*found)[0]
	if !k.exact && slices.ContainsFunc(*found, func(other known) bool { return other.id != k.id }) {
		return uuid.Nil, refuse(CodeConflict, "Multiple accounts of this SSO provider have the email address of the SAML Assertion")
	}
	data := metadata{}
	if err := json.Unmarshal(p.data, &data); err != nil {
		return uuid.Nil, err
	}
	switch {
	case k.banned:
		return k.id, deny(CodeUserBanned, "User is banned")
	case data.merged(k.metadata) > maxUserMetadata:
		return k.id, tooLarge("user_metadata", maxUserMetadata)
	}
	_, err := tx.Exec(ctx, refreshPerson, k.id, p.subject, c.name(), p.data, now())
	return k.id, err
}

func (s *Service) makePerson(ctx context.Context, tx pgx.Tx, c *connection, p *person) (uuid.UUID, error) {
	if s.options.DisableSignup {
		return uuid.Nil, refuse(CodeSignupDisabled, "Signups not allowed for this instance")
	}
	app, err := appMetadata(c.name()).text()
	if err != nil {
		return uuid.Nil, err
	}
	_, err = tx.Exec(ctx, insertPerson, p.id, p.email, now(), app, p.data, p.subject, c.name())
	return p.id, err
}

// managedBySSO tells whether an identity provider decides about the address and the credentials of an account.
func (u *User) managedBySSO() bool {
	return slices.ContainsFunc(u.Identities, func(i Identity) bool { return strings.HasPrefix(i.Provider, ssoProviderPrefix) })
}

// mayChangeCredentials refuses what the identity provider of an account would have to change.
func (u *User) mayChangeCredentials(in UserChange) *Error {
	moves := in.Email != "" && !strings.EqualFold(in.Email, u.Email) || in.Phone != "" && in.Phone != u.Phone
	if (moves || in.Password != "") && u.managedBySSO() {
		return unprocessable(CodeUserSSOManaged, "Updating email, phone, password of a SSO account only possible via SSO")
	}
	return nil
}

// vouchedFor names, in a token's `amr`, the identity provider of a sign-in by SAML.
func vouchedFor(methods []methodClaim, u *User) []methodClaim {
	for i, m := range methods {
		if m.Method != MethodSAML {
			continue
		}
		for _, identity := range u.Identities {
			if provider, found := strings.CutPrefix(identity.Provider, ssoProviderPrefix); found {
				methods[i].Provider = provider
			}
		}
	}
	return methods
}
