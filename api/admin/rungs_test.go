package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

func TestRungsOfATable(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table places (id bigint primary key, mine bool);
		insert into places select i * 2, i <= 250 from generate_series(1, 1000) i;
		alter table places enable row level security;
		create policy mine on places using (mine);
		grant select on places to anon;
		create table pairs (a int, b text, primary key (b, a));
		insert into pairs select i / 10, i % 10 || ' "x,' from generate_series(1, 1000) i;
		create table keyless (a int)`, administrator.Editor)
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
		want       string
	}{
		{"from the least key on", "/rungs/public/places?step=400", nil, 200, `{"step":400,"keys":[["800"],["1600"]]}`},
		{"from the greatest", "/rungs/public/places?step=400&descending=true", nil, 200, `{"step":400,"keys":[["1202"],["402"]]}`},
		{"of the rows that a role sees", "/rungs/public/places?step=100", []string{"X-View-As-Role: anon"}, 200, `{"step":100,"keys":[["200"],["400"]]}`},
		{"by a key of two columns", "/rungs/public/pairs?step=400", nil, 200, `{"step":400,"keys":[["3 \"x,","99"],["7 \"x,","99"]]}`},
		{"no key", "/rungs/public/keyless?step=100", nil, 400, "no_key"},
		{"a step that is longer than the table", "/rungs/public/places?step=1000000", nil, 200, `{"step":1000000,"keys":[]}`},
		{"no step", "/rungs/public/places", nil, 400, "bad_step"},
		{"a step beyond all", "/rungs/public/places?step=1000001", nil, 400, "bad_step"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, "GET", test.path, nil, test.headers...)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
}

func TestViewersFindRowsAsTheServiceRole(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table places (id bigint primary key);
		insert into places select i from generate_series(1, 1000) i;
		grant select on places to service_role;
		create table secrets (id bigint primary key);
		revoke all on secrets from service_role`, administrator.Viewer)
	for _, test := range []struct {
		path, role string
		status     int
		want       string
	}{
		{"/rungs/public/places?step=400", "", 200, `{"step":400,"keys":[["400"],["800"]]}`},
		{"/rungs/public/places?step=400", "postgres", 403, "service_role only"},
		{"/rungs/public/secrets?step=400", "", 403, "42501"},
	} {
		var headers []string
		if test.role != "" {
			headers = []string{"X-View-As-Role: " + test.role}
		}
		if answer := d.call(t, "GET", test.path, nil, headers...); answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
			t.Errorf("%s as %q: %d %s", test.path, test.role, answer.Status, answer.Body)
		}
	}
}

func TestRungsAreTheRowsThatPostgreSQLNumbers(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	for i, key := range []struct{ name, typeName, value string }{ // value is of the row i, of 1 to 1000
		{"with gaps", "int", "i * i"},
		{"uuids", "uuid", "md5(i::text)::uuid"},
		{"texts", `text collate "und-x-icu"`, "case when i % 2 = 0 then upper(md5(i::text)) else md5(i::text) || ' ,\"''%' end"},
		{"numbers whose comparison is not leakproof", "numeric", "case i when 1 then 'NaN' else i / 7.0 end"},
		{"moments", "timestamptz", "'2026-01-01'::timestamptz + i * i * interval '1 microsecond'"},
		{"bytes", "bytea", "sha256(int4send(i))"},
		{"padded", "char(8)", "to_hex(i)"},
	} {
		t.Run(key.name, func(t *testing.T) {
			table := fmt.Sprint("things", i)
			d.Database.Exec(t, strings.ReplaceAll(fmt.Sprintf(`
				create table things (key %s primary key, n int);
				insert into things select %s, i from generate_series(1, 1000) i;
				alter table things enable row level security;
				create policy odd on things using (n %% 2 = 1);
				grant select on things to anon;
				analyze things`, key.typeName, key.value), "things", table))
			for _, test := range []struct {
				query, order, seen string
				headers            []string
			}{
				{"", "key", "true", nil},
				{"&descending=true", "key desc", "true", nil},
				{"&descending=true", "key desc", "n % 2 = 1", []string{"X-View-As-Role: anon"}},
			} {
				rows, err := d.Database.Pool.Query(t.Context(), `
					select key::text
					from (select key, row_number() over (order by `+test.order+`) as n from `+table+` where `+test.seen+`) as numbered
					where n % 150 = 0
					order by n`)
				if err != nil {
					t.Fatal(err)
				}
				want, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Fatal(err)
				}
				answer := d.call(t, "GET", "/rungs/public/"+table+"?step=150"+test.query, nil, test.headers...)
				var got admin.RungsBody
				if err := json.Unmarshal([]byte(answer.Body), &got); err != nil || answer.Status != http.StatusOK {
					t.Fatalf("%d %s", answer.Status, answer.Body)
				}
				keys := make([]string, len(got.Keys))
				for i, columns := range got.Keys {
					keys[i] = strings.Join(columns, "|")
					if key.typeName == "char(8)" { // a cast to text leaves the padding out, which means nothing
						keys[i] = strings.TrimRight(keys[i], " ")
					}
				}
				if !slices.Equal(keys, want) {
					t.Errorf("%s %v: %q, not %q", test.query, test.headers, keys, want)
				}
			}
		})
	}
}
