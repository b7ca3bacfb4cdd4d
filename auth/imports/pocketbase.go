package imports

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// PocketBase reads the accounts of an auth collection of PocketBase from its database, pb_data/data.db, with the
// providers that they sign in by. It is read only; a server may run over it. An account's id is derived from
// PocketBase's, which stays in app_metadata as pocketbase_id; the collection's own fields become user_metadata.
func PocketBase(path, collection string) Source { return pocketBase{path, collection} }

type pocketBase struct{ path, collection string }

// collection is an auth collection.
type collection struct {
	id, name string
	// kinds are the kinds of its fields, by their names.
	kinds map[string]string
}

func (s pocketBase) each(ctx context.Context, progress func(done, total int64), take func(row) error) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := s.find(ctx, db)
	if err != nil {
		return s.failed(err)
	}
	logins, err := prepareLogins(ctx, db, c)
	if err != nil {
		return s.failed(err)
	}
	defer logins.Close()
	var total int64
	if err := db.QueryRowContext(ctx, "select count(*) from "+quoteName(c.name)).Scan(&total); err != nil {
		return s.failed(err)
	}
	rows, err := db.QueryContext(ctx, "select * from "+quoteName(c.name)+" order by rowid")
	if err != nil {
		return s.failed(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return s.failed(err)
	}
	for n := int64(1); rows.Next(); n++ {
		fields := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range fields {
			into[i] = &fields[i]
		}
		if err := rows.Scan(into...); err != nil {
			return s.failed(err)
		}
		values := map[string]any{}
		for i, name := range columns {
			values[name] = fields[i]
		}
		found, err := s.row(ctx, c, int(n), values, logins)
		if err != nil {
			return s.failed(err)
		}
		if err := take(found); err != nil {
			return err
		}
		progress(n, total)
	}
	return s.failed(rows.Err())
}

// failed tells what is wrong with the file apart from what is wrong with the rest.
func (s pocketBase) failed(err error) error {
	var broken *sqlite.Error
	if errors.As(err, &broken) {
		return wrong("%s cannot be read as PocketBase's database: %v", s.path, err)
	}
	return err
}

func (s pocketBase) open() (*sql.DB, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, &FileError{err.Error()}
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	if n, _ := f.Read(start); string(start[:n]) != magic {
		return nil, wrong("%s is not a database of PocketBase: give its pb_data/data.db (a backup is a zip file that has it)", s.path)
	}
	connector := url.URL{Scheme: "file", Opaque: url.PathEscape(s.path), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	return sql.Open("sqlite", strings.ReplaceAll(connector.String(), "%2F", "/"))
}

// find looks the collection up among those that hold accounts.
func (s pocketBase) find(ctx context.Context, db *sql.DB) (collection, error) {
	fields := "fields"
	if err := db.QueryRowContext(ctx, `select name from pragma_table_info('_collections') where name = 'fields'`).Scan(new(string)); errors.Is(err, sql.ErrNoRows) {
		fields = "schema" // before version 0.23
	} else if err != nil {
		return collection{}, err
	}
	rows, err := db.QueryContext(ctx, `select id, name, `+fields+` from _collections where type = 'auth' and name <> '_superusers'`)
	if err != nil {
		return collection{}, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		c := collection{kinds: map[string]string{}}
		var text string
		if err := rows.Scan(&c.id, &c.name, &text); err != nil {
			return c, err
		}
		if c.name != s.collection {
			names = append(names, c.name)
			continue
		}
		var described []struct{ Name, Type string }
		if json.Unmarshal([]byte(text), &described) == nil {
			for _, field := range described {
				c.kinds[field.Name] = field.Type
			}
		}
		return c, rows.Close()
	}
	if err := rows.Err(); err != nil {
		return collection{}, err
	}
	slices.Sort(names)
	return collection{}, wrong("there is no auth collection %s in it, but: %s; name one with --collection", s.collection, strings.Join(names, ", "))
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// prepareLogins prepares the statement that gives the providers of one account.
func prepareLogins(ctx context.Context, db *sql.DB, c collection) (*sql.Stmt, error) {
	owner, record := "collectionRef", "recordRef"
	if err := db.QueryRowContext(ctx, `select name from pragma_table_info('_externalAuths') where name = 'collectionRef'`).Scan(new(string)); errors.Is(err, sql.ErrNoRows) {
		owner, record = "collectionId", "recordId" // before version 0.23
	} else if err != nil {
		return nil, err
	}
	// The id is PocketBase's own, which is of letters and digits.
	return db.PrepareContext(ctx, fmt.Sprintf(`select provider, providerId from _externalAuths where %s = '%s' and %s = ? order by rowid`,
		owner, strings.ReplaceAll(c.id, "'", "''"), record))
}

func (s pocketBase) row(ctx context.Context, c collection, n int, values map[string]any, logins *sql.Stmt) (row, error) {
	text := func(name string) string {
		value, _ := values[name].(string)
		return value
	}
	id := text("id")
	place := placeOf(n, id)
	if id == "" {
		return row{place: place, refused: "it has no id"}, nil
	}
	a := &Account{
		ID:           derivedID("pocketbase:"+c.name, id),
		Email:        pointer(text("email")),
		PasswordHash: pointer(orElse(text("password"), text("passwordHash"))),
		CreatedAt:    orElse(text("created"), time.Now().UTC().Format(time.RFC3339Nano)),
		Own:          true, App: map[string]any{"pocketbase_id": id}, User: c.metadata(values),
	}
	a.UpdatedAt = orElse(text("updated"), a.CreatedAt)
	if a.Email != nil && truth(values["verified"]) {
		a.EmailConfirmedAt = &a.CreatedAt
	}
	found, err := logins.QueryContext(ctx, id)
	if err != nil {
		return row{}, err
	}
	defer found.Close()
	for found.Next() {
		var provider, providerID string
		if err := found.Scan(&provider, &providerID); err != nil {
			return row{}, err
		}
		if provider == "microsoft" {
			provider = "azure"
		}
		data, err := json.Marshal(map[string]any{"sub": providerID, "provider_id": providerID, "email": text("email")})
		if err != nil {
			return row{}, err
		}
		a.addIdentity(provider, providerID, data)
	}
	return row{place: place, account: a}, found.Err()
}

func truth(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	}
	return false
}

// metadata are the fields that the collection has beside those of every one.
func (c collection) metadata(values map[string]any) map[string]any {
	user := map[string]any{}
	for name, value := range values {
		switch name {
		case "id", "password", "passwordHash", "tokenKey", "email", "emailVisibility", "verified", "created", "updated",
			"lastResetSentAt", "lastVerificationSentAt", "lastLoginAlertSentAt":
			continue
		}
		switch v := value.(type) {
		case nil:
		case string:
			if c.kinds[name] == "json" && json.Valid([]byte(v)) {
				user[name] = json.RawMessage(v)
			} else if v != "" {
				user[name] = v
			}
		case []byte:
		default:
			if user[name] = v; c.kinds[name] == "bool" {
				user[name] = truth(v)
			}
		}
	}
	return user
}
