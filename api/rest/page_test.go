package rest_test

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/api"
	"basalt/api/apitest"
)

const pages = `
create table owner (id int primary key, name text);
insert into owner select g, case when g % 4 > 0 then 'owner ' || g % 3 end from generate_series(1, 12) g;
create table entry (
  id int primary key,
  n int,
  s text,
  w float8 not null,
  at timestamptz,
  amount numeric,
  j jsonb,
  ok bool not null,
  owner int references owner (id),
  left_part int not null,
  right_part text not null,
  "after" int,
  unique (left_part, right_part)
);
create function fill(first int, last int) returns void language sql as $$
  insert into entry
  select
    g,
    case when random() < 0.8 then (random() * 5)::int end,
    case when random() < 0.8 then (array['a', 'B', 'ä', '', 'x,"y"', ' ', '<&>'])[1 + (random() * 6)::int] end,
    (array[0.1, '-0', 'NaN', 'Infinity', 1e-300, 1 / 3.0])[1 + (random() * 5)::int]::float8,
    case when random() < 0.8 then timestamptz '2026-01-01' + (random() * 3)::int * interval '1.000001 days' end,
    case when random() < 0.8 then (array[1.0, 1.00, 'NaN', -5, 1e30])[1 + (random() * 4)::int]::numeric end,
    case when random() < 0.8 then jsonb_build_object('k', (random() * 3)::int) end,
    random() < 0.5,
    case when random() < 0.8 then 1 + (random() * 11)::int end,
    g / 7,
    'part ' || g % 7,
    g
  from generate_series($1, $2) g
$$;
select fill(1, 300);
create function doubled(entry) returns int language sql stable as $$ select $1.n * 2 $$;
create view few as select id, n from entry;
create view joined as select e.id, e.n, o.name from entry e join owner o on o.id <= 2;
create table bare (a int, b int);
insert into bare values (1, 1), (1, 1);
create table loose (a int unique, b int);
insert into loose values (1, 1), (null, 2), (null, 3);
` + open

const keyset = "Prefer: page=keyset"

// next gives the address that the Link of an answer leads to, "" when there is none.
func next(t *testing.T, answer *apitest.Answer) string {
	t.Helper()
	link := answer.Header.Get("Link")
	if link == "" {
		return ""
	}
	address, ok := strings.CutSuffix(link, `>; rel="next"`)
	if !ok || !strings.HasPrefix(address, "</rest/v1/") {
		t.Fatalf("Link: %s", link)
	}
	return address[1:]
}

// follow reads all pages from the first on and gives the ids on each.
func follow(t *testing.T, s *apitest.Server, path string, headers ...string) (all [][]int) {
	t.Helper()
	for path != "" {
		answer := s.Do(t, "GET", path, "", append([]string{keyset}, headers...)...)
		if answer.Status != 200 && answer.Status != 206 {
			t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
		}
		all = append(all, ids(t, answer))
		path = next(t, answer)
	}
	return all
}

// ids are those of an answer of any kind.
func ids(t *testing.T, answer *apitest.Answer) (list []int) {
	t.Helper()
	type row struct{ ID int }
	switch kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";"); kind {
	case "text/csv":
		records, err := csv.NewReader(strings.NewReader(answer.Body)).ReadAll()
		if err != nil || len(records) == 0 || records[0][0] != "id" {
			t.Fatalf("%v: %s", err, answer.Body)
		}
		for _, record := range records[1:] {
			id, err := strconv.Atoi(record[0])
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, id)
		}
	case "application/x-ndjson":
		for line := range strings.Lines(answer.Body) {
			var one row
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			list = append(list, one.ID)
		}
	default:
		var rows []row
		answer.JSON(t, &rows)
		for _, one := range rows {
			list = append(list, one.ID)
		}
	}
	return list
}

// randomOrder makes an order of a few terms that tells rows apart, as it may be asked for with and without pages.
func randomOrder(r *rand.Rand) (paged, whole string) {
	columns := []string{"n", "s", "w", "at", "amount", "j->k", "j->>k", "ok", "owner", "doubled", "owner(name)", "owner(called)", "again"}
	var terms []string
	last := ""
	for range r.IntN(4) {
		last = pick(r, "", ".asc", ".desc")
		terms = append(terms, pick(r, columns...)+last+pick(r, "", ".nullsfirst", ".nullslast"))
	}
	key := []string{"id" + pick(r, "", ".asc", ".desc")}
	if r.IntN(3) == 0 {
		key = []string{"right_part" + pick(r, "", ".desc"), "left_part" + pick(r, "", ".desc.nullslast")}
	}
	if r.IntN(3) == 0 { // left to the server
		key = nil
	}
	paged = strings.Join(append(slices.Clone(terms), key...), ",")
	if key == nil {
		key = []string{"id" + strings.TrimSuffix(last, ".asc")}
	}
	if paged != "" {
		paged = "&order=" + paged
	}
	return paged, "&order=" + strings.Join(append(terms, key...), ",")
}

// TestPagesTogetherAreTheWholeSet: whatever the order, the pages that Link leads through hold the rows of one large
// answer, each once and in its place.
func TestPagesTogetherAreTheWholeSet(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pages, func(s *api.Settings) { s.MaxRows = 0 })
	const seed = 20261202
	r := rand.New(rand.NewPCG(seed, 1))
	for range 60 {
		paged, whole := randomOrder(r)
		query := "select=id,again:n,owner(name,called:name)" + pick(r, "", "&id=gt.40", "&or=(n.is.null,n.lt.4)", "&owner.id=gt.2")
		size := 1 + r.IntN(90)
		var pages [][]int
		path := "/rest/v1/entry?" + query + paged + "&limit=" + strconv.Itoa(size)
		switch r.IntN(3) {
		case 0:
			pages = follow(t, s, path, "Accept: text/csv")
		case 1:
			pages = follow(t, s, path, "Accept: application/x-ndjson")
		default:
			pages = follow(t, s, path, "Prefer: page=keyset, count=exact")
		}
		want := ids(t, s.Do(t, "GET", "/rest/v1/entry?"+query+whole, ""))
		if got := slices.Concat(pages...); !slices.Equal(got, want) {
			t.Fatalf("%s, %d a page\ngot  %v\nwant %v", query+paged, size, got, want)
		}
		if pages := len(pages); pages != max(1, (len(want)+size-1)/size) {
			t.Fatalf("%s: %d pages of %d for %d rows", query+paged, pages, size, len(want))
		}
	}
}

// TestPagesStayTrueWhileRowsAreInserted: rows that were there all the time are on exactly one page.
func TestPagesStayTrueWhileRowsAreInserted(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pages, nil)
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		for first := 1000; ; first += 5 {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.Database.Pool.Exec(t.Context(), `select fill($1, $2)`, first, first+4); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for _, order := range []string{"id", "n,id.desc", "s.desc", "at.nullsfirst,n.desc,id"} {
		seen := map[int]int{}
		path := "/rest/v1/entry?select=id&limit=23&order=" + order
		for path != "" && len(seen) < 400 { // new rows may come faster than they are read
			answer := s.Do(t, "GET", path, "", keyset)
			for _, id := range ids(t, answer) {
				if seen[id]++; seen[id] > 1 {
					t.Errorf("%s: row %d is on several pages", order, id)
				}
			}
			path = next(t, answer)
		}
		for id := 1; path == "" && id <= 300; id++ {
			if seen[id] != 1 {
				t.Errorf("%s: row %d is on %d pages", order, id, seen[id])
			}
		}
	}
	close(stop)
	group.Wait()
}

func TestPagesByKey(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pages, func(s *api.Settings) { s.MaxRows = 100 })
	first := s.Do(t, "GET", "/rest/v1/entry?select=id&limit=2&apikey="+s.Keys.AnonKey+"&n=not.is.null&order=id", "", keyset)
	cursor := next(t, first)[strings.Index(next(t, first), "after="):]
	byN := next(t, s.Do(t, "GET", "/rest/v1/entry?select=id&limit=2&order=n", "", keyset))
	byN = byN[strings.Index(byN, "after="):]
	forged := func(raw string) string { return "after=" + base64.RawURLEncoding.EncodeToString([]byte(raw)) }
	if link := first.Header.Get("Link"); link != `</rest/v1/entry?select=id&limit=2&n=not.is.null&order=id&`+cursor+`>; rel="next"` {
		t.Errorf("Link: %s", link)
	}
	run(t, s, []exchange{
		{name: "a page says what was preferred and where the next one is", path: "entry?select=id&limit=2&order=id", headers: []string{keyset}, status: 200,
			want: `[{"id":1},{"id":2}]`, header: []string{"Preference-Applied: page=keyset", "Content-Range: 0-1/*", "Link: any"}},
		{name: "the next page", path: "entry?select=id&limit=2&order=id&" + cursor, headers: []string{keyset}, status: 200,
			want: anything, header: []string{"Link: any", "Content-Range: */*"}},
		{name: "the total is that of the whole set", path: "entry?select=id&limit=2&order=id&id=lte.10&" + cursor, headers: []string{keyset + ", count=exact"}, status: 206,
			want: anything, header: []string{"Content-Range: */10", "Link: any"}},
		{name: "the last page has no next", path: "entry?select=id&limit=2&order=id&id=gt.298", headers: []string{keyset}, status: 200,
			want: `[{"id":299},{"id":300}]`, header: []string{"Link:"}},
		{name: "an empty page has no next", path: "entry?select=id&limit=2&order=id&id=gt.300", headers: []string{keyset}, status: 200, want: `[]`, header: []string{"Link:"}},
		{name: "a limit of nothing has no next", path: "entry?select=id&limit=0", headers: []string{keyset}, status: 200, want: `[]`, header: []string{"Link:"}},
		{name: "the server's maximum makes pages too", path: "entry?select=id", headers: []string{keyset}, status: 200, want: anything, header: []string{"Content-Range: 0-99/*", "Link: any"}},
		{name: "it is known to strict handling", path: "entry?select=id&limit=1&order=id", headers: []string{keyset + ", handling=strict"}, status: 200,
			want: `[{"id":1}]`, header: []string{"Preference-Applied: page=keyset, handling=strict"}},
		{name: "other pages are not", path: "entry?limit=1", headers: []string{"Prefer: page=offset, handling=strict"}, status: 400, has: []string{"PGRST122", "page=offset"}},
		{name: "without it there are no pages", path: "entry?select=id&limit=1&order=id", status: 200, want: `[{"id":1}]`, header: []string{"Link:", "Preference-Applied:"}},
		{name: "without it after is a column", path: "entry?select=id&after=eq.7", status: 200, want: `[{"id":7}]`},
		{name: "with it the column is still found", path: "entry?select=id&and=(after.eq.7)", headers: []string{keyset}, status: 200, want: `[{"id":7}]`},
		{name: "a filter on the column is no cursor", path: "entry?select=id&after=eq.7", headers: []string{keyset}, status: 400, has: []string{"PGRST100", "no cursor"}},
		{name: "an empty cursor", path: "entry?select=id&after=", headers: []string{keyset}, status: 400, has: []string{"PGRST100"}},
		{name: "a cut cursor", path: "entry?select=id&" + cursor[:len(cursor)-2], headers: []string{keyset}, status: 400, has: []string{"PGRST100"}},
		{name: "a cursor of another order", path: "entry?select=id&order=id.desc&" + cursor, headers: []string{keyset}, status: 400, has: []string{"belongs to another order"}},
		{name: "a cursor of another order with as many terms", path: "entry?select=id&order=s&" + byN, headers: []string{keyset}, status: 400, has: []string{"belongs to another order"}},
		{name: "a cursor of another relation", path: "owner?select=id&" + cursor, headers: []string{keyset}, status: 400, has: []string{"belongs to another order"}},
		{name: "a forged cursor", path: "entry?select=id&" + forged("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01"), headers: []string{keyset}, status: 400, has: []string{"belongs to another order"}},
		{name: "a cursor of another version", path: "entry?select=id&" + forged("\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01"), headers: []string{keyset}, status: 400, has: []string{"no cursor"}},
		{name: "a cursor whose lengths lie", path: "entry?select=id&" + forged("\x01\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), headers: []string{keyset}, status: 400, has: []string{"no cursor"}},
		{name: "a cursor with NUL", path: "entry?select=id&" + forged("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00"), headers: []string{keyset}, status: 400, has: []string{"no cursor"}},
		{name: "an offset", path: "entry?offset=3", headers: []string{keyset}, status: 400, has: []string{"PGRST100", "offset"}},
		{name: "a Range that begins later", path: "entry", headers: []string{keyset, "Range: 3-5"}, status: 400, has: []string{"offset"}},
		{name: "a Range from the beginning", path: "entry?select=id&order=id", headers: []string{keyset, "Range: 0-1"}, status: 200, want: `[{"id":1},{"id":2}]`, header: []string{"Link: any"}},
		{name: "no key", path: "bare", headers: []string{keyset}, status: 400, has: []string{"PGRST100", "does not tell its rows apart", "primary key"}},
		{name: "a unique column that may be null", path: "loose?order=a", headers: []string{keyset}, status: 400, has: []string{"does not tell its rows apart"}},
		{name: "a view with a key", path: "few?select=id&limit=1&order=id", headers: []string{keyset}, status: 200, want: `[{"id":1}]`, header: []string{"Link: any"}},
		{name: "a view that shows a key several times", path: "joined?select=id&limit=1&order=id", headers: []string{keyset}, status: 400, has: []string{"does not tell the rows apart"}},
		{name: "one object", path: "entry?select=id&limit=1&order=id", headers: []string{keyset, "Accept: application/vnd.pgrst.object+json"}, status: 200, want: `{"id":1}`, header: []string{"Link: any"}},
		{name: "not several as one object", path: "entry?select=id&limit=2&order=id", headers: []string{keyset, "Accept: application/vnd.pgrst.object+json"}, status: 406, has: []string{"PGRST116"}},
		{name: "HEAD", method: "HEAD", path: "entry?select=id&limit=2&order=id", headers: []string{keyset}, status: 200, header: []string{"Link: any"}},
		{name: "what is no read does not know pages", method: "PATCH", path: "entry?id=eq.1", body: `{"n":1}`, headers: []string{keyset}, status: 204, header: []string{"Preference-Applied:"}},
		{name: "text that would end the address", path: `entry?select=id&limit=1&order=id&s=neq.">x<`, headers: []string{keyset}, status: 200, want: anything, header: []string{"Link: any"}},
	})
	odd := s.Do(t, "GET", `/rest/v1/entry?select=id&limit=1&order=id&s=neq.%22>x<`, "", keyset)
	if link := odd.Header.Get("Link"); strings.Count(link, ">") != 1 || strings.Count(link, "<") != 1 {
		t.Errorf("Link: %s", link)
	}
}

func TestAPageTooLargeToHoldIsRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table wide (id int primary key, s text);
		insert into wide select g, repeat('x', 1000) from generate_series(1, 1000) g;`+open,
		func(s *api.Settings) { s.MaxRows, s.AnswerMemory = 0, 256<<10 })
	run(t, s, []exchange{
		{name: "a page too large", path: "wide?limit=900", headers: []string{keyset}, status: 413, has: []string{"54000", "smaller pages"}},
		{name: "a smaller one", path: "wide?limit=100", headers: []string{keyset}, status: 200, want: anything, header: []string{"Link: any"}},
		{name: "everything at once needs no page", path: "wide", headers: []string{keyset}, status: 200, want: anything, header: []string{"Link:"}},
		{name: "values too long for a cursor", method: "POST", path: "wide", body: fmt.Sprintf(`[{"id":0,"s":"%s"}]`, strings.Repeat("a", 20000)), status: 201},
		{name: "an order by values too long for a cursor", path: "wide?select=id&limit=1&order=s", headers: []string{keyset}, status: 400, has: []string{"too long for a cursor"}},
	})
}

// TestACursorShowsNothingOfHiddenRows: what a cursor holds was on the page.
func TestACursorShowsNothingOfHiddenRows(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table diary (id int primary key, owner text, secret text);
		insert into diary select g, case when g % 3 = 0 then 'me' else 'other' end, 'secret ' || g from generate_series(1, 90) g;
		alter table diary enable row level security;
		create policy mine on diary using (owner = 'me');`+open, nil)
	seen := 0
	for path := "/rest/v1/diary?select=id&order=secret.desc,id&limit=4"; path != ""; {
		answer := s.Do(t, "GET", path, "", keyset)
		list := ids(t, answer)
		seen += len(list)
		if path = next(t, answer); path == "" {
			break
		}
		raw, err := base64.RawURLEncoding.DecodeString(path[strings.Index(path, "after=")+len("after="):])
		if want := fmt.Sprintf("secret %d", list[len(list)-1]); err != nil || !strings.Contains(string(raw), want) {
			t.Fatalf("the cursor is %q, %v, want %s in it", raw, err, want)
		}
		if strings.Count(string(raw), "secret") != 1 {
			t.Fatalf("the cursor is %q", raw)
		}
	}
	if seen != 30 {
		t.Errorf("%d rows, want 30", seen)
	}
}

// everyOrder has a column of each type that has an order, with values that are close together, equal, and null.
const everyOrder = `
create extension if not exists citext;
create type mood as enum ('sad', 'so so', 'glad');
create type pair as (x int, y text);
create domain positive as int check (value > 0);
create table typed (
  id int primary key,
  enum mood, uuid uuid, day date, clock time, zoned timetz, stamp timestamp, moment timestamptz, span interval,
  small int2, big int8, single float4, double float8, exact numeric(20, 10), cash money, bytes bytea, bits bit(4), varbits varbit,
  blank char(4), short varchar(9), label name, one "char", free text, insensitive citext, bytewise text collate "C",
  address inet, net cidr, mac macaddr, numbers int[], words text[], rng int4range, multi int4multirange, data jsonb,
  composite pair, domained positive, flag bool, object oid, vector tsvector
);
insert into typed
select g,
  (array['sad', 'so so', 'glad', null])[1 + g % 4]::mood,
  md5((g % 5)::text)::uuid,
  (array['infinity', '2026-01-01', '0044-03-15 BC', null])[1 + g % 4]::date,
  (array['00:00', '24:00', '12:00:00.000001', null])[1 + g % 4]::time,
  (array['12:00+02', '11:00+01', '10:00:00.000001+00', null])[1 + g % 4]::timetz,
  (array['-infinity', '2026-01-01 00:00:00.000001', '2026-01-01', null])[1 + g % 4]::timestamp,
  (array['infinity', '2026-01-01 00:00+02', '2025-12-31 22:00+00', null])[1 + g % 4]::timestamptz,
  (array['1 mon', '30 days', '-1 day 00:00:00.1', null])[1 + g % 4]::interval,
  (array[-32768, 0, 32767, null])[1 + g % 4]::int2,
  (array[-9223372036854775808, 9007199254740993, 9007199254740992, null])[1 + g % 4]::int8,
  (array['NaN', '0.1', '1e-40', '-0', null])[1 + g % 5]::float4,
  (array['Infinity', '0.1', '0.30000000000000004', '0.3', null])[1 + g % 5]::float8,
  (array[0.1, 0.1000000001, -5, null])[1 + g % 4],
  (array['$1.50', '-$3.00', '$0.01', null])[1 + g % 4]::money,
  (array['\x', '\x00', '\xff5c', null])[1 + g % 4]::bytea,
  (array['0000', '1010', '1111', null])[1 + g % 4]::bit(4),
  (array['', '1', '10', null])[1 + g % 4]::varbit,
  (array['a', 'ab  ', ' b', null])[1 + g % 4]::char(4),
  (array['', 'a', 'a ', null])[1 + g % 4]::varchar(9),
  (array['n', 'N', '', null])[1 + g % 4]::name,
  (array['x', '\', '', null])[1 + g % 4]::"char",
  (array['null', '', '%', null])[1 + g % 4],
  (array['A', 'a', 'b', null])[1 + g % 4]::citext,
  (array['A', 'a', 'ä', null])[1 + g % 4],
  (array['10.0.0.1', '10.0.0.1/8', '::1', null])[1 + g % 4]::inet,
  (array['10.0.0.0/8', '10.0.0.0/16', '::/0', null])[1 + g % 4]::cidr,
  (array['08:00:2b:01:02:03', '08:00:2b:01:02:04', '00:00:00:00:00:00', null])[1 + g % 4]::macaddr,
  (array['{}', '{1,NULL}', '{1,2}', null])[1 + g % 4]::int[],
  (array['{"a,b","\""}', '{NULL}', '{"NULL"}', null])[1 + g % 4]::text[],
  (array['empty', '[1,5)', '(,5)', null])[1 + g % 4]::int4range,
  (array['{}', '{[1,3),[5,9)}', '{(,3)}', null])[1 + g % 4]::int4multirange,
  (array['null', '{"a":1.0}', '[1,"x"]', null])[1 + g % 4]::jsonb,
  case g % 4 when 0 then null when 1 then row (1, 'a"b')::pair when 2 then row (1, null)::pair else row (null, '')::pair end,
  (array[1, 2, 3, null])[1 + g % 4],
  (array[true, false, null])[1 + g % 3],
  (array[1, 2, 4294967295, null])[1 + g % 4]::oid,
  (array['a:1', 'b', '', null])[1 + g % 4]::tsvector
from generate_series(1, 40) g;
` + open

func TestPagesInTheOrderOfEveryType(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, everyOrder, nil)
	rows, err := s.Database.Pool.Query(t.Context(), `
		select attname
		from pg_attribute
		where attrelid = 'typed'::regclass
		  and attnum > 1`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(columns) < 30 {
		t.Fatalf("%v, %v", columns, err)
	}
	for _, column := range columns {
		for _, direction := range []string{"", ".desc", ".nullsfirst", ".desc.nullslast"} {
			path := "/rest/v1/typed?select=id&order=" + column + direction + ",id"
			want := ids(t, s.Do(t, "GET", path, ""))
			if got := slices.Concat(follow(t, s, path+"&limit=3", "Prefer: page=keyset, timezone=Asia/Kathmandu")...); !slices.Equal(got, want) || len(got) != 40 {
				t.Errorf("order by %s%s\ngot  %v\nwant %v", column, direction, got, want)
			}
		}
	}
}
