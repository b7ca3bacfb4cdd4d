package auth

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// forsake takes from an account that nobody has proved to own what it was made with: its password, and the identities of
// servers that do not vouch for its address. Whoever chose these need not be who reads what is sent there, and would
// share the account with its owner once that is confirmed. What is left is the address alone.
const forsake = `
with unproved as (
    select id, email
    from auth.users
    where id = $1
    and email_confirmed_at is null
    and phone_confirmed_at is null
    and not is_sso_user
),
gone as (
    delete from auth.identities i
    using unproved u
    where i.user_id = u.id
    and i.provider not in ('email', 'phone')
    and i.identity_data -> 'email_verified' is distinct from 'true'
    returning i.user_id
),
named as (
    insert into auth.identities (id, provider_id, user_id, identity_data, provider, created_at, updated_at)
    select gen_random_uuid(), u.id::text, u.id, jsonb_build_object('sub', u.id, 'email', u.email, 'email_verified', false, 'phone_verified', false), 'email', $2, $2
    from unproved u
    where u.email is not null
    and exists (select from gone)
    on conflict do nothing
)
update auth.users u
set encrypted_password = '',
    raw_app_meta_data = coalesce(u.raw_app_meta_data, '{}') || case
        when exists (select from gone) then '{"provider": "email", "providers": ["email"]}'::jsonb
        else '{}'
    end,
    updated_at = $2
from unproved
where u.id = unproved.id
and (coalesce(u.encrypted_password, '') <> '' or exists (select from gone))`

// queueForsake adds to a batch that an account which nobody has proved to own keeps its address alone.
func queueForsake(batch *pgx.Batch, user uuid.UUID) { batch.Queue(forsake, user, now()) }

// strange tells whether an account that waits for its confirmation was made with other credentials than a password that
// somebody chooses for it now.
func (s *Service) strange(ctx context.Context, u *User, chosen Secret) (bool, error) {
	if u.passwordHash == "" || u.known() {
		return u.known(), nil
	}
	same, err := s.matches(ctx, u.passwordHash.Reveal(), chosen)
	return !same, err
}

// bare tells whether an account has nothing but its address.
func (u *User) bare() bool {
	return u.passwordHash == "" && !u.known()
}

// known tells whether another server knows the account.
func (u *User) known() bool {
	return slices.ContainsFunc(u.Identities, func(i Identity) bool { return i.Provider != "email" && i.Provider != "phone" })
}
