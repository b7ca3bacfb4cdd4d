package imports

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"basalt/auth"
)

const (
	userTable     = "auth.users"
	identityTable = "auth.identities"
	factorTable   = "auth.mfa_factors"
)

// Supabase reads the accounts of a Supabase project: a plain dump of its database (`supabase db dump --data-only`, or
// pg_dump, with COPY or with INSERT, compressed by gzip or not), of which auth.users, auth.identities and
// auth.mfa_factors are taken; or auth.users alone as CSV with a header, or as JSON.
func Supabase(path string) Source { return supabase(path) }

type supabase string

func (s supabase) each(ctx context.Context, progress func(done, total int64), take func(row) error) error {
	f, err := open(ctx, string(s), 0, 1, func(int64, int64) {})
	if err != nil {
		return err
	}
	start := f.start
	f.Close()
	switch {
	case bytes.HasPrefix(start, []byte("PGDMP")):
		return wrong("%s is a dump in pg_dump's own format: write it out as SQL first, with pg_restore --data-only --file=dump.sql %s", s, s)
	case bytes.HasPrefix(start, []byte("[")), bytes.HasPrefix(start, []byte("{")):
		return s.json(ctx, progress, take)
	case isHeader(start):
		return s.csv(ctx, progress, take)
	}
	return s.dump(ctx, progress, take)
}

// isHeader tells a CSV's first line from SQL.
func isHeader(start []byte) bool {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	names := strings.Split(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(string(line))), `"`, ""), ",")
	found := 0
	for _, name := range names {
		if name == "id" || name == "email" || name == "instance_id" || name == "encrypted_password" {
			found++
		}
	}
	return found > 1
}

// dump goes over the file once for each table: their order in it is pg_dump's choice, and accounts have to come first.
func (s supabase) dump(ctx context.Context, progress func(done, total int64), take func(row) error) error {
	accounts := 0
	for pass, table := range []string{userTable, identityTable, factorTable} {
		err := func() error {
			f, err := open(ctx, string(s), int64(pass), 3, progress)
			if err != nil {
				return err
			}
			defer f.Close()
			return newDump(f, table, func(line int, values map[string]*string, fault string) error {
				place := fmt.Sprintf("line %d", line)
				if id := values["id"]; id != nil {
					place += " (" + shown(*id) + ")"
				}
				if fault != "" {
					return take(row{place: place, table: table, refused: fault})
				}
				if table == userTable {
					accounts++
					return takeUser(place, values, false, take)
				}
				return takeDetail(place, table, values, take)
			}).read()
		}()
		if err != nil {
			return err
		}
	}
	if accounts == 0 {
		return wrong("%s has no rows of auth.users: dump the schema auth too, with supabase db dump --data-only or pg_dump --data-only --schema=auth", s)
	}
	return nil
}

func (s supabase) csv(ctx context.Context, progress func(done, total int64), take func(row) error) error {
	f, err := open(ctx, string(s), 0, 1, progress)
	if err != nil {
		return err
	}
	defer f.Close()
	limited := newBounded(f)
	r := csv.NewReader(limited)
	header, err := r.Read()
	if err != nil {
		return wrong("%s is no CSV: %v", s, err)
	}
	columns := append([]string(nil), header...)
	for i := range columns {
		columns[i] = strings.ToLower(strings.TrimSpace(columns[i]))
	}
	r.ReuseRecord = true
	for {
		limited.renew()
		fields, err := r.Read()
		place := ""
		if len(fields) > 0 { // of what cannot be read there is no place
			line, _ := r.FieldPos(0)
			place = fmt.Sprintf("line %d", line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, csv.ErrFieldCount):
			if err := take(row{place: place, refused: fmt.Sprintf("it has %d values for %d columns", len(fields), len(columns))}); err != nil {
				return err
			}
			continue
		case errors.As(err, new(*csv.ParseError)):
			return wrong("%s is no CSV: %v", s, err)
		case err != nil:
			return err
		}
		values := make(map[string]*string, len(columns))
		for i, name := range columns {
			if fields[i] != "" && fields[i] != "null" && fields[i] != `\N` {
				text := strings.Clone(fields[i])
				values[name] = &text
			}
		}
		if err := takeUser(place, values, true, take); err != nil {
			return err
		}
	}
}

func (s supabase) json(ctx context.Context, progress func(done, total int64), take func(row) error) error {
	f, err := open(ctx, string(s), 0, 1, progress)
	if err != nil {
		return err
	}
	defer f.Close()
	return objects(f, "users", func(n int, text json.RawMessage) error {
		if !utf8.Valid(text) {
			return take(row{place: placeOf(n, ""), refused: notText})
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return take(row{place: placeOf(n, ""), refused: "it is not a JSON object"})
		}
		values := map[string]*string{}
		for name, member := range members {
			var plain *string
			if json.Unmarshal(member, &plain) != nil { // a number, true, or JSON that stands for itself
				plain = pointer(string(member))
			}
			values[name] = plain
		}
		id := ""
		if values["id"] != nil {
			id = *values["id"]
		}
		return takeUser(placeOf(n, id), values, true, take)
	})
}

// takeUser reads a row of auth.users. What has been deleted is left out. Where the file has no identities of its own
// the account gets those that its address and number are.
func takeUser(place string, values map[string]*string, alone bool, take func(row) error) error {
	text := func(name string) string {
		if value := values[name]; value != nil {
			return *value
		}
		return ""
	}
	flag := func(name string) bool { return text(name) == "t" || text(name) == "true" }
	if text("deleted_at") != "" {
		return nil
	}
	id, err := uuid.Parse(text("id"))
	switch {
	case err != nil:
		return take(row{place: place, refused: "its id is no UUID"})
	case !areText(values):
		return take(row{place: place, refused: notText})
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	a := &Account{
		ID: id, Audience: text("aud"), Role: text("role"),
		Email: pointer(text("email")), Phone: pointer(text("phone")), PasswordHash: pointer(text("encrypted_password")),
		EmailConfirmedAt: pointer(text("email_confirmed_at")), PhoneConfirmedAt: pointer(text("phone_confirmed_at")),
		InvitedAt: pointer(text("invited_at")), LastSignInAt: pointer(text("last_sign_in_at")),
		AppMetadata:  json.RawMessage(orElse(text("raw_app_meta_data"), "{}")),
		UserMetadata: json.RawMessage(orElse(text("raw_user_meta_data"), "{}")),
		CreatedAt:    orElse(text("created_at"), now), UpdatedAt: orElse(text("updated_at"), now),
		BannedUntil: pointer(text("banned_until")), SSO: flag("is_sso_user"), Anonymous: flag("is_anonymous"),
	}
	if a.EmailConfirmedAt == nil && values["email_confirmed_at"] == nil {
		a.EmailConfirmedAt = pointer(text("confirmed_at")) // dumps from before phone numbers
	}
	a.Own = alone && !a.SSO
	return take(row{place: place, account: a})
}

// notText is the refusal of values in another encoding, of which several would become the same one.
const notText = "it is not in UTF-8: write the file in that encoding, with --encoding=UTF8 for pg_dump"

func areText(values map[string]*string) bool {
	for _, value := range values {
		if value != nil && !utf8.ValidString(*value) {
			return false
		}
	}
	return true
}

// isJSON tells the columns whose text is JSON already.
func isJSON(column string) bool { return column == "identity_data" || column == "web_authn_credential" }

// takeDetail reads a row of another table as it is.
func takeDetail(place, table string, values map[string]*string, take func(row) error) error {
	if !areText(values) {
		return take(row{place: place, table: table, refused: notText})
	}
	members := map[string]any{}
	for name, value := range values {
		switch {
		case value == nil:
			continue
		case !isJSON(name):
			members[name] = *value
			continue
		case !json.Valid([]byte(*value)):
			return take(row{place: place, table: table, refused: name + " is not JSON"})
		}
		text := json.RawMessage(*value)
		if err := auth.CheckIdentity(text); err != nil {
			return take(row{place: place, table: table, refused: err.Error()})
		}
		members[name] = text
	}
	if table == identityTable && members["provider_id"] == nil {
		// Before 2023 the provider's id was the row's own.
		members["provider_id"] = members["id"]
		delete(members, "id")
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return take(row{place: place, table: table, values: text})
}
