package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// tokenKind is what a one-time token is good for, in the words of the database. An account has one of each at most.
type tokenKind string

const (
	tokenConfirmation       tokenKind = "confirmation_token"
	tokenRecovery           tokenKind = "recovery_token"
	tokenReauthentication   tokenKind = "reauthentication_token"
	tokenEmailChangeCurrent tokenKind = "email_change_token_current"
	tokenEmailChangeNew     tokenKind = "email_change_token_new"
	tokenPhoneChange        tokenKind = "phone_change_token"
)

// pkcePrefix marks the tokens of links that end in a code for the app that asked, and not in a session
// for whoever follows them.
const pkcePrefix = "pkce_"

// oneTime is a token that proves who reads a mailbox or a telephone: a short code to type, and in links its long form.
// The long form is a keyed hash of the address and the code: no one can compute it from them without the project's
// secret, and the database holds no more than its hash.
type oneTime struct {
	kind    tokenKind
	address string
	code    Secret
	link    Secret
}

// newOneTime draws a code with a number of digits for an address.
func (s *Service) newOneTime(kind tokenKind, address string, pkce bool) (oneTime, error) {
	digits := s.links.MailCodeLength
	if isPhone(address) {
		digits = s.links.SMSCodeLength
	}
	code, err := drawCode(digits)
	if err != nil {
		return oneTime{}, err
	}
	t := oneTime{kind: kind, address: address, code: code}
	t.link = s.longForm(address, t.code)
	if pkce {
		t.link = pkcePrefix + t.link
	}
	return t, nil
}

// drawCode draws a code with a number of digits.
func drawCode(digits int) (Secret, error) {
	bound := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	drawn, err := rand.Int(rand.Reader, bound)
	if err != nil {
		return "", fmt.Errorf("one-time code: %w", err)
	}
	return Secret(fmt.Sprintf("%0*d", digits, drawn)), nil
}

// longForm is what a code for an address is in links.
func (s *Service) longForm(address string, code Secret) Secret {
	mac := hmac.New(sha256.New, s.linkKey)
	mac.Write([]byte(address))
	mac.Write([]byte{0})
	mac.Write([]byte(code.Reveal()))
	return Secret(hex.EncodeToString(mac.Sum(nil)))
}

// storedLink is what the database knows of a token's long form.
func storedLink(link Secret) string {
	digest := sha256.Sum256([]byte(link))
	return hex.EncodeToString(digest[:])
}

// storedCode are the forms in which the database may know a code: its link may be one for PKCE.
func (s *Service) storedCode(address string, code Secret) []string {
	link := s.longForm(address, code)
	return []string{storedLink(link), storedLink(pkcePrefix + link)}
}

const (
	// putTokens makes tokens of an account the ones that count, and notes in the account when they were sent. It is
	// one update, because the project's own triggers run at each. $2 to $4 are the tokens' kinds, hashes and
	// addresses; $6 and $7 are the new address that waits for its confirmation, or NULL.
	putTokens = `
with given as (
    select *
    from unnest($2::text[], $3::text[], $4::text[]) as g (kind, hash, address)
),
asked as (
    update auth.users
    set confirmation_token = coalesce((select hash from given where kind = 'confirmation_token'), confirmation_token),
        confirmation_sent_at = case when 'confirmation_token' = any($2) then $5 else confirmation_sent_at end,
        recovery_token = coalesce((select hash from given where kind = 'recovery_token'), recovery_token),
        recovery_sent_at = case when 'recovery_token' = any($2) then $5 else recovery_sent_at end,
        reauthentication_token = coalesce((select hash from given where kind = 'reauthentication_token'), reauthentication_token),
        reauthentication_sent_at = case when 'reauthentication_token' = any($2) then $5 else reauthentication_sent_at end,
        email_change = coalesce($6, email_change),
        email_change_token_new = coalesce((select hash from given where kind = 'email_change_token_new'), email_change_token_new),
        email_change_token_current = coalesce((select hash from given where kind = 'email_change_token_current'), email_change_token_current),
        email_change_sent_at = case when $6 is null then email_change_sent_at else $5 end,
        email_change_confirm_status = case when $6 is null then email_change_confirm_status else 0 end,
        phone_change = coalesce($7, phone_change),
        phone_change_token = coalesce((select hash from given where kind = 'phone_change_token'), phone_change_token),
        phone_change_sent_at = case when $7 is null then phone_change_sent_at else $5 end,
        invited_at = case when $8 then $5 else invited_at end,
        updated_at = $5
    where id = $1
    and deleted_at is null
    returning id
)
insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
select gen_random_uuid(), asked.id, given.kind::auth.one_time_token_type, given.hash, given.address, now() at time zone 'utc', now() at time zone 'utc'
from asked, given
on conflict (user_id, token_type) do update
set token_hash = excluded.token_hash,
    relates_to = excluded.relates_to,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at`

	// useToken takes a token away: who gets a row back is the only one who does. The account is locked first, as
	// everything locks it that writes tokens. A token counts as long as the address that it was sent to is the
	// account's own, or is the one that waits to be.
	useToken = `
with owner as materialized (
    select t.id,
        u.banned_until > now() as banned,
        extract(epoch from now() - least(t.created_at at time zone 'utc', case t.token_type
            when 'confirmation_token' then u.confirmation_sent_at
            when 'recovery_token' then u.recovery_sent_at
            when 'reauthentication_token' then u.reauthentication_sent_at
            when 'phone_change_token' then u.phone_change_sent_at
            else u.email_change_sent_at
        end))::float8 as age
    from auth.one_time_tokens t
    join auth.users u on u.id = t.user_id
    where t.token_hash = any($1)
    and t.token_type::text = any($2)
    and u.deleted_at is null
    and t.relates_to = any(case t.token_type
        when 'email_change_token_new' then array[u.email_change::text]
        when 'phone_change_token' then array[u.phone_change]
        else array[u.email::text, u.phone]
    end)
    order by t.created_at desc
    limit 1
    for update of u
)
delete from auth.one_time_tokens t
using owner
where t.id = owner.id
and t.token_hash = any($1)
returning t.user_id, t.token_type::text, t.relates_to, owner.banned, owner.age`
)

// pending is a new address of an account that waits for its confirmation; an empty one changes nothing.
type pending struct{ email, phone *string }

// queueTokens adds to a batch that tokens are to count from now on. Those of the same kinds that were sent before are void.
func queueTokens(batch *pgx.Batch, id uuid.UUID, at time.Time, p pending, invited bool, tokens ...oneTime) {
	kinds, hashes, addresses := make([]string, len(tokens)), make([]string, len(tokens)), make([]string, len(tokens))
	for i, t := range tokens {
		kinds[i], hashes[i], addresses[i] = string(t.kind), storedLink(t.link), t.address
	}
	batch.Queue(putTokens, id, kinds, hashes, addresses, at, p.email, p.phone, invited)
}

// proof is how somebody shows that they have a token: by its long form, or by its code and the address it was sent to.
type proof struct {
	hashes []string
	// typed is set for codes.
	typed bool
}

// usedToken is a token that has been taken away.
type usedToken struct {
	user    uuid.UUID
	kind    tokenKind
	address string
}

// use takes a token away that is of one of some kinds and not too old. It is part of a transaction: what the token was
// good for is written in it, or the token stays.
func (s *Service) use(ctx context.Context, tx limit.Sender, p proof, kinds ...tokenKind) (usedToken, error) {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	var t usedToken
	var banned bool
	var age time.Duration
	batch := &pgx.Batch{}
	batch.Queue(useToken, p.hashes, names).QueryRow(func(found pgx.Row) error {
		return found.Scan(reader(func(r *row) {
			t = usedToken{user: r.id(), kind: tokenKind(r.text()), address: r.text()}
			banned, age = r.flag(), time.Duration(r.number()*float64(time.Second))
		}))
	})
	err := tx.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return t, p.expired()
	case err != nil:
		return t, saveFailed("Database error finding user from email link", err)
	case age > s.lifeOf(t.address, p.typed):
		return t, p.expired()
	case banned:
		return t, deny(CodeUserBanned, "User is banned")
	}
	return t, nil
}

// expired is the answer to tokens that are unknown, used, void, or too old: nobody is told which.
func (p proof) expired() *Error {
	if p.typed {
		return deny(CodeOTPExpired, "Token has expired or is invalid")
	}
	return deny(CodeOTPExpired, "Email link is invalid or has expired")
}

// lifeOf is how long a token for an address is good. Codes are short and so are good for a shorter time than links.
func (s *Service) lifeOf(address string, typed bool) time.Duration {
	switch {
	case isPhone(address):
		return s.links.SMSCodeLife
	case typed:
		return s.links.MailCodeLife
	}
	return s.links.MailLinkLife
}

// isPhone tells telephone numbers from e-mail addresses among the addresses that tokens are sent to.
func isPhone(address string) bool { return !strings.Contains(address, "@") }
