package auth

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/google/uuid"
)

// insertUser begins a WITH that makes an account with the identity of its address. An address that
// is taken inserts nothing: among sign-ups at the same moment the first one wins and the
// others wait for it. The empty texts are what Supabase's own server expects to find.
const insertUser = `
signed as (
    insert into auth.users (
        instance_id, id, aud, role, email, encrypted_password,
        email_confirmed_at, confirmation_token, confirmation_sent_at, last_sign_in_at,
        recovery_token, email_change_token_new, email_change,
        raw_app_meta_data, raw_user_meta_data, created_at, updated_at, is_anonymous,
        phone, phone_confirmed_at
    )
    values (
        '00000000-0000-0000-0000-000000000000', $7, 'authenticated', 'authenticated', $8, $9,
        $10, $11, $12, $13,
        '', '', '',
        $14, $15, $2, $2, $16,
        $17, $18
    )
    on conflict do nothing
    returning id
),
identified as (
    insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
    select gen_random_uuid(), id::text, id, $15, case when $8 is null then 'phone' else 'email' end, $2, $2, $2
    from signed
    where not $16
)`

// The statements of a sign-up. All have the same parameters: $1 to $6 are the session's.
const (
	signUpWithSession = `
with` + insertUser + `,` + openSession + `
select id
from signed`

	// The first select keeps the session's parameters typed.
	signUpAlone = `
with unused as (
    select $1::uuid, $3::text, $4::inet, $5::text, $6::text
),` + insertUser + `
select id
from signed`

	// A confirmation is due: its token is what the message's link or code is compared with.
	signUpWithToken = `
with unused as (
    select $1::uuid, $3::text, $4::inet, $5::text, $6::text
),` + insertUser + `,
due as (
    insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
    select gen_random_uuid(), id, 'confirmation_token', $11, coalesce($8, $17), now() at time zone 'utc', now() at time zone 'utc'
    from signed
)
select id
from signed`

	userByEmail = `
select` + userColumns + `
from auth.users u
where u.email = $1
and not u.is_sso_user`
)

// draft is an account before it is written.
type draft struct {
	id          uuid.UUID
	email       *string
	phone       *string
	secret      Secret
	hash        *string
	confirmedAt *time.Time
	signedInAt  *time.Time
	sentAt      *time.Time
	token       oneTime
	app, user   json.RawMessage
	anonymous   bool
}

// newDraft is an account for an address. The server's word wins over what a client says about itself.
func newDraft(address string, data metadata, confirmed bool) (draft, error) {
	d := draft{id: uuid.New()}
	app, known := appMetadata("email"), emailMetadata(d.id, address, confirmed)
	if d.email = &address; isPhone(address) {
		d.email, d.phone = nil, &address
		app, known = appMetadata("phone"), phoneMetadata(d.id, address, confirmed)
	}
	user := maps.Clone(data)
	maps.Copy(user, known)
	var err error
	if d.app, err = app.text(); err != nil {
		return d, err
	}
	d.user, err = user.text()
	return d, err
}

// address is what an account is known by; anonymous ones have none.
func (d draft) address() string {
	switch {
	case d.email != nil:
		return *d.email
	case d.phone != nil:
		return *d.phone
	}
	return ""
}

func (d draft) parameters() []any {
	hash := ""
	if d.token.link != "" {
		hash = storedLink(d.token.link)
	}
	emailAt, phoneAt := d.confirmedAt, d.confirmedAt
	if d.email == nil {
		emailAt = nil
	}
	if d.phone == nil {
		phoneAt = nil
	}
	return []any{
		d.id, d.email, d.hash, emailAt, hash, d.sentAt, d.signedInAt, d.app, d.user, d.anonymous, d.phone, phoneAt,
	}
}
