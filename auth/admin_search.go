package auth

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// UserSearch says which accounts are wanted; what is nil or empty does not matter.
type UserSearch struct {
	// Text is an id, or how an e-mail address or a telephone number begins.
	Text                              string
	Confirmed, Banned, Anonymous, SSO *bool
	// Provider is one that the account has an identity of.
	Provider string
	// After is the last account of the page before.
	After *UserPlace
	Limit int
}

// UserPlace is where an account stands among all, which are ordered by when they were made.
type UserPlace struct {
	// CreatedAt is zero for an account that does not tell.
	CreatedAt time.Time
	ID        uuid.UUID
}

// Place is where the account stands.
func (u *User) Place() UserPlace {
	place := UserPlace{ID: u.ID}
	if u.CreatedAt != nil {
		place.CreatedAt = *u.CreatedAt
	}
	return place
}

// FoundUsers are accounts that were searched for.
type FoundUsers struct {
	Users []*User
	// More tells that further ones follow.
	More bool
}

// listedAt is what accounts are ordered by, as the indexes have it.
const listedAt = `coalesce(u.created_at, '-infinity'::timestamptz)`

// conditions are those of a search: the planner has to see each as it stands to use the index that it has.
func (in *UserSearch) conditions(args *[]any) []string {
	bind := func(value any) string {
		*args = append(*args, value)
		return "$" + strconv.Itoa(len(*args))
	}
	var all []string
	if text := strings.TrimSpace(in.Text); text != "" {
		if id, err := uuid.Parse(text); err == nil {
			all = append(all, "u.id = "+bind(id))
		} else {
			all = append(all, "(u.email like "+bind(beginning(strings.ToLower(text)))+
				" or u.phone like "+bind(beginning(strings.TrimPrefix(text, "+")))+")")
		}
	}
	for _, one := range []struct {
		wanted  *bool
		yes, no string
	}{
		{in.Confirmed, "u.confirmed_at is not null", "u.confirmed_at is null"},
		{in.Banned, "u.banned_until is not null and u.banned_until > now()", "(u.banned_until is null or u.banned_until <= now())"},
		{in.Anonymous, "u.is_anonymous", "not u.is_anonymous"},
		{in.SSO, "u.is_sso_user", "not u.is_sso_user"},
	} {
		switch {
		case one.wanted == nil:
		case *one.wanted:
			all = append(all, one.yes)
		default:
			all = append(all, one.no)
		}
	}
	if in.Provider != "" {
		all = append(all, "exists (select from auth.identities i where i.user_id = u.id and i.provider = "+bind(in.Provider)+")")
	}
	if in.After != nil {
		at := pgtype.Timestamptz{Time: in.After.CreatedAt, Valid: true}
		if in.After.CreatedAt.IsZero() {
			at.InfinityModifier = pgtype.NegativeInfinity
		}
		all = append(all, "("+listedAt+", u.id) < ("+bind(at)+", "+bind(in.After.ID)+")")
	}
	return all
}

// beginning is the pattern of what begins with a text.
func beginning(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// AdminFindUsers gives the accounts that are searched for, the newest first.
func (s *Service) AdminFindUsers(ctx context.Context, in UserSearch) (*FoundUsers, error) {
	if !isText(in.Text) || !isText(in.Provider) {
		return &FoundUsers{}, nil // no column holds such
	}
	var args []any
	sql := "select" + userColumns + "\nfrom auth.users u"
	if conditions := in.conditions(&args); len(conditions) > 0 {
		sql += "\nwhere " + strings.Join(conditions, "\nand ")
	}
	args = append(args, in.Limit+1)
	sql += "\norder by " + listedAt + " desc, u.id desc\nlimit $" + strconv.Itoa(len(args))
	// Planned for the values: what is rare among a provider's accounts and what is not wants another index.
	rows, err := s.pool.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := &FoundUsers{}
	for rows.Next() {
		u, err := scanUser(rows)
		if err != nil {
			return nil, err
		}
		found.Users = append(found.Users, u)
	}
	if len(found.Users) > in.Limit {
		found.Users, found.More = found.Users[:in.Limit], true
	}
	return found, rows.Err()
}

const (
	// estimateUsers counts exactly what is few, and else gives what the planner's statistics say.
	estimateUsers = `
select
    case when few.n <= $1 then few.n else greatest(few.n, c.reltuples::bigint) end,
    few.n <= $1
from (
    select count(*) as n
    from (
        select
        from auth.users
        limit $1 + 1
    ) as counted
) as few, pg_catalog.pg_class as c
where c.oid = 'auth.users'::regclass`

	providersInUse = `
with recursive known as (
    (select provider from auth.identities order by provider limit 1)
    union all
    select (
        select i.provider
        from auth.identities i
        where i.provider > known.provider
        order by i.provider
        limit 1
    )
    from known
    where known.provider is not null
)
select provider
from known
where provider is not null
limit 100`

	auditsOfUser = `
select id, coalesce(payload, 'null'), created_at, ip_address
from (
    select *
    from auth.audit_log_entries
    order by created_at desc nulls last
    limit $2
) as recent
where payload ->> 'actor_id' = $1
or payload #>> '{traits,user_id}' = $1
order by created_at desc nulls last, id
limit $3`
)

// countedUsers is up to how many accounts are counted one by one.
const countedUsers = 50_000

// AdminCountUsers tells how many accounts there are, and whether that is exact.
func (s *Service) AdminCountUsers(ctx context.Context) (n int64, exact bool, err error) {
	err = s.pool.QueryRow(ctx, estimateUsers, countedUsers).Scan(&n, &exact)
	return n, exact, err
}

// AdminProviders gives the providers that identities are of.
func (s *Service) AdminProviders(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, providersInUse)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

const (
	// auditsLookedAt is among how many of the newest entries of the audit log those of an account are looked for, and
	// auditsGiven how many of them are given.
	auditsLookedAt = 200_000
	auditsGiven    = 100
)

// AdminUserAudit gives the newest entries of the audit log about an account.
func (s *Service) AdminUserAudit(ctx context.Context, id uuid.UUID) ([]AuditEntry, error) {
	rows, err := s.pool.Query(ctx, auditsOfUser, id.String(), auditsLookedAt, auditsGiven)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (AuditEntry, error) {
		var e AuditEntry
		err := row.Scan(&e.ID, &e.Payload, &e.CreatedAt, &e.IPAddress)
		return e, err
	})
}
