package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/provider"
)

const (
	// The row of the account is what sign-ins, linkings and unlinkings of one account wait for.
	identityOf = `
select u.id,
    coalesce(u.email, ''),
    coalesce(u.email, '') = '' or u.email_confirmed_at is not null
from auth.identities i
join auth.users u on u.id = i.user_id
where i.provider = $1
and i.provider_id = $2
for update of u`

	identityHolder = `
select user_id
from auth.identities
where provider = $1
and provider_id = $2`

	// An address counts as its holder's own when somebody has shown that they read it. While the project takes
	// addresses on trust ($2), only the word of another server counts.
	holderOf = `
select u.id,
    u.email_confirmed_at is not null
    and (
        not $2
        or exists (
            select
            from auth.identities i
            where i.user_id = u.id
            and i.provider not in ('email', 'phone')
            and i.email = u.email
            and i.identity_data -> 'email_verified' = 'true'
        )
    )
from auth.users u
where u.email = $1
and not u.is_sso_user
and u.deleted_at is null
for update`

	insertVisitor = `
insert into auth.users (
    instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
    confirmation_token, recovery_token, email_change_token_new, email_change,
    raw_app_meta_data, raw_user_meta_data, created_at, updated_at, is_anonymous
)
values (
    '00000000-0000-0000-0000-000000000000', $1, 'authenticated', 'authenticated', $2, '', $3,
    '', '', '', '',
    $4, $5, $6, $6, false
)
on conflict do nothing`

	insertIdentity = `
insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
values (gen_random_uuid(), $1, $2, $3, $4, $5, $5, $5)`

	renewIdentity = `
update auth.identities
set identity_data = $3,
    last_sign_in_at = $4,
    updated_at = $4
where provider = $1
and provider_id = $2`

	// What has not changed is not written: the project's triggers on accounts are to run once at a sign-in.
	renewVisitor = `
with known as (
    select coalesce(jsonb_agg(provider order by since, provider), '[]') as providers
    from (
        select provider, min(created_at) as since
        from auth.identities
        where user_id = $1
        group by provider
    ) each
),
wanted as (
    select u.id,
        case
            when pg_column_size(u.raw_user_meta_data) > $5 then u.raw_user_meta_data
            else coalesce(u.raw_user_meta_data, '{}') || $2::jsonb
        end as user_data,
        coalesce(u.raw_app_meta_data, '{}')
            || jsonb_build_object(
                'provider', coalesce(u.raw_app_meta_data -> 'provider', known.providers -> 0, to_jsonb('email'::text)),
                'providers', known.providers
            ) as app_data,
        coalesce(u.email_confirmed_at, case when u.email = $3 then $4::timestamptz end) as confirmed_at
    from auth.users u, known
    where u.id = $1
)
update auth.users u
set raw_user_meta_data = wanted.user_data,
    raw_app_meta_data = wanted.app_data,
    email_confirmed_at = wanted.confirmed_at,
    updated_at = $4
from wanted
where u.id = wanted.id
and (u.raw_user_meta_data, u.raw_app_meta_data, u.email_confirmed_at)
    is distinct from (wanted.user_data, wanted.app_data, wanted.confirmed_at)`
)

// visitor is somebody who has proved at a provider who they are there.
type visitor struct {
	provider string
	subject  string
	// email is empty when none is known.
	email    string
	verified bool
	data     json.RawMessage
}

// newVisitor reads what a provider says about a user.
func newVisitor(p *provider.Provider, who provider.Profile) (visitor, *Error) {
	v := visitor{provider: p.Name(), subject: who.Subject}
	if who.Email != "" {
		email, refusal := normalizeEmail(who.Email)
		if refusal == nil {
			v.email, v.verified = email, who.EmailVerified && SameMailbox(who.Email, email)
			who.Data["email"], who.Data["email_verified"] = email, v.verified
		} else {
			delete(who.Data, "email")
			who.Data["email_verified"] = false
		}
	}
	if v.email == "" && !p.EmailOptional() {
		return v, refuse(CodeProviderEmailNeedsVerification, "Error getting user email from external provider")
	}
	var err error
	if v.data, err = json.Marshal(who.Data); err != nil {
		return v, unexpected("What the provider says about the user could not be kept", err)
	}
	return v, nil
}

// provenEmail is the address that the provider has verified; NULL when there is none.
func (v visitor) provenEmail() *string {
	if !v.verified {
		return nil
	}
	return &v.email
}

// settleAttempts bounds how often a sign-in begins anew because another one was first.
const settleAttempts = 10

// errOvertaken is a sign-in whose account another one has made meanwhile.
var errOvertaken = errors.New("another sign-in was first")

// again runs a transaction until no other one is in its way.
func (s *Service) again(ctx context.Context, work func(pgx.Tx) error) error {
	var err error
	for range settleAttempts {
		if err = pgx.BeginFunc(ctx, s.pool, work); !overtaken(err) {
			return err
		}
	}
	return &Error{Code: CodeConflict, Message: "The account is being changed by another request, try again", Cause: err}
}

func overtaken(err error) bool {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return refusal.Code == "40001" || refusal.Code == "40P01" || isUniqueViolation(err, "identities_provider_id_provider_unique")
	}
	return errors.Is(err, errOvertaken)
}

// accountOf gives the account of a visitor: the one that knows the identity, else the one that has to gain it, else the
// one whose address is proved on both sides to be the same, else a new one.
func (s *Service) accountOf(ctx context.Context, tx pgx.Tx, v visitor, to *settlement) (uuid.UUID, error) {
	at, linkTo := now(), to.linkTo
	to.unproved = false
	var known uuid.UUID
	var email string
	var confirmed bool
	err := tx.QueryRow(ctx, identityOf, v.provider, v.subject).Scan(&known, &email, &confirmed)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return uuid.Nil, err
	case err == nil && linkTo != uuid.Nil:
		return known, alreadyLinked(known == linkTo)
	case err == nil && !confirmed && v.verified && v.email == email:
		// Only now somebody has proved to read the address: what else the account has is not known to be theirs.
		return known, s.join(ctx, tx, v, known, false, at)
	case err == nil && !confirmed && !s.options.Autoconfirm:
		to.unproved = true
		return known, nil
	case err == nil:
		return known, s.welcomeBack(ctx, tx, v, known, at)
	case linkTo != uuid.Nil:
		return linkTo, s.addIdentity(ctx, tx, v, linkTo, at)
	case v.verified:
		var holder uuid.UUID
		var proven bool
		err := tx.QueryRow(ctx, holderOf, v.email, s.options.Autoconfirm).Scan(&holder, &proven)
		if err == nil {
			return holder, s.join(ctx, tx, v, holder, proven, at)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return uuid.Nil, err
		}
	}
	return s.newcomer(ctx, tx, v, to, at)
}

// unlinked refuses a visitor whose identity some account has.
func (s *Service) unlinked(ctx context.Context, tx pgx.Tx, v visitor, linkTo uuid.UUID) error {
	var known uuid.UUID
	err := tx.QueryRow(ctx, identityHolder, v.provider, v.subject).Scan(&known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return alreadyLinked(known == linkTo)
}

func alreadyLinked(own bool) *Error {
	if own {
		return refuse(CodeIdentityAlreadyExists, "Identity is already linked")
	}
	return refuse(CodeIdentityAlreadyExists, "Identity is already linked to another user")
}

// welcomeBack renews what is known of a visitor who has an account.
func (s *Service) welcomeBack(ctx context.Context, tx pgx.Tx, v visitor, user uuid.UUID, at time.Time) error {
	batch := &pgx.Batch{}
	batch.Queue(renewIdentity, v.provider, v.subject, v.data, at)
	batch.Queue(renewVisitor, user, v.data, v.provenEmail(), at, maxUserMetadata)
	return tx.SendBatch(ctx, batch).Close()
}

// join adds an identity to the account of the same address. A holder who never proved to read it may be somebody who
// waited for its owner there: nothing of theirs stays.
func (s *Service) join(ctx context.Context, tx pgx.Tx, v visitor, user uuid.UUID, proven bool, at time.Time) error {
	batch := &pgx.Batch{}
	if !proven {
		queueEviction(batch, user, at)
	}
	batch.Queue(insertIdentity, v.subject, user, v.data, v.provider, at)
	batch.Queue(renewVisitor, user, v.data, v.provenEmail(), at, maxUserMetadata)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if !proven {
		s.log.Warn().Stringer("user_id", user).Str("provider", v.provider).
			Msg("an account whose address nobody had proved is given to who has: its password, identities and sessions are gone")
		return nil
	}
	return s.notifyOfLink(ctx, tx, user, v.provider)
}

// newcomer makes an account.
func (s *Service) newcomer(ctx context.Context, tx pgx.Tx, v visitor, to *settlement, at time.Time) (uuid.UUID, error) {
	if s.options.DisableSignup {
		return uuid.Nil, refuse(CodeSignupDisabled, "Signups not allowed for this instance")
	}
	var confirmedAt *time.Time
	if v.verified || v.email != "" && s.options.Autoconfirm {
		confirmedAt = &at
	}
	to.unproved = v.email != "" && confirmedAt == nil
	app, err := appMetadata(v.provider).text()
	if err != nil {
		return uuid.Nil, err
	}
	d := draft{id: to.newcomer, email: optionalText(v.email), app: app, user: v.data}
	if err := s.ask(to.making, d.preview(at)); err != nil {
		return uuid.Nil, err
	}
	tag, err := tx.Exec(ctx, insertVisitor, d.id, d.email, confirmedAt, app, v.data, at)
	switch {
	case err != nil:
		return uuid.Nil, err
	case tag.RowsAffected() == 0 && !v.verified:
		// Somebody has the address, and it is not proved that it is the same person.
		to.unproved = true
		return uuid.Nil, nil
	case tag.RowsAffected() == 0:
		return uuid.Nil, errOvertaken
	}
	to.making.made = d.id
	_, err = tx.Exec(ctx, insertIdentity, v.subject, d.id, v.data, v.provider, at)
	return d.id, err
}
