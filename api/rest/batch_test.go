package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const shopSchema = `
create table orders (id bigint generated always as identity primary key, customer text not null, note jsonb);
create table items (order_id bigint not null references orders, sku text not null, n int not null check (n > 0), primary key (order_id, sku));
create table late (id int primary key, ref int references late deferrable initially deferred);
create function ordered(customer text) returns setof orders language sql stable as 'select * from orders o where o.customer = $1';
create function place(customer text) returns bigint language sql as 'insert into orders (customer) values ($1) returning id';
create function seen() returns json language sql stable as $$ select json_build_object(
  'method', current_setting('request.method'), 'path', current_setting('request.path'),
  'client', current_setting('request.headers')::json ->> 'x-client-info', 'prefer', current_setting('request.headers')::json ->> 'prefer') $$;
create function teapot() returns text language plpgsql as $$ begin
  perform set_config('response.status', '418', true), set_config('response.headers', '[{"X-Tea": "green"}]', true);
  return 'short and stout';
end $$;
create function large(n int) returns setof text language sql stable as $$ select repeat('x', 1000) from generate_series(1, n) $$;
create schema other;
create table other.orders (id int primary key, customer text);
grant usage on schema other to anon, authenticated, service_role;
grant all on other.orders to anon, authenticated, service_role;
`

const batchType = "application/vnd.basalt.batch+json"

// batchAnswer is one answer to an operation.
type batchAnswer struct {
	Status  int
	Headers map[string]string
	Body    json.RawMessage
}

// batch sends one and gives the answers, none when it was refused.
func batch(t testing.TB, s *apitest.Server, body string, headers ...string) (*apitest.Answer, []batchAnswer) {
	t.Helper()
	answer := s.Do(t, "POST", "/rest/v1/", body, append([]string{"Content-Type: " + batchType}, headers...)...)
	if answer.Status != http.StatusOK {
		return answer, nil
	}
	if got := answer.Header.Get("Content-Type"); got != batchType {
		t.Errorf("Content-Type %q", got)
	}
	var answers []batchAnswer
	answer.JSON(t, &answers)
	return answer, answers
}

func startShop(t *testing.T, change func(*api.Settings)) *apitest.Server {
	return apitest.Start(t, shopSchema, func(s *api.Settings) {
		s.Schemas = []string{"public", "other"}
		s.PoolSize = 2
		if change != nil {
			change(s)
		}
	})
}

func TestABatchAnswersEachOperationAsItsOwnRequestWouldBe(t *testing.T) {
	s := startShop(t, nil)
	s.Database.Exec(t, `insert into orders (customer) values ('ada'), ('bob'); insert into items values (1, 'pen', 2), (1, 'ink', 1)`)
	tests := []struct {
		name, operation string
		status          int
		body            string
		header, value   string
	}{
		{"a read", `{"method":"GET","path":"/orders?select=id,customer&order=id"}`, 200, `[{"id":1,"customer":"ada"}, {"id":2,"customer":"bob"}]`, "content-range", "0-1/*"},
		{"a read with an embed", `{"method":"GET","path":"/orders?select=id,items(sku)&items.order=sku&id=eq.1"}`, 200, `[{"id":1,"items":[{"sku":"ink"},{"sku":"pen"}]}]`, "content-type", "application/json; charset=utf-8"},
		{"one object", `{"method":"GET","path":"/orders?select=id&id=eq.2","headers":{"accept":"application/vnd.pgrst.object+json"}}`, 200, `{"id":2}`, "content-location", "/orders?id=eq.2&select=id"},
		{"rows as CSV", `{"method":"GET","path":"/orders?select=id,customer&order=id","headers":{"Accept":"text/csv"}}`, 200, `"id,customer\n1,ada\n2,bob"`, "content-type", "text/csv; charset=utf-8"},
		{"a head with a count", `{"method":"HEAD","path":"/orders","prefer":"count=exact"}`, 200, `null`, "content-range", "0-1/2"},
		{"a part by Range", `{"method":"GET","path":"/orders?select=id&order=id","prefer":"count=exact","headers":{"range":"1-1"}}`, 206, `[{"id":2}]`, "content-range", "1-1/2"},
		{"another schema", `{"method":"GET","path":"/orders","headers":{"accept-profile":"other"}}`, 200, `[]`, "content-profile", "other"},
		{"a write to another schema", `{"method":"POST","path":"/orders","headers":{"content-profile":"other"},"body":{"id":7,"customer":"eve"}}`, 201, `null`, "content-profile", "other"},
		{"an insert", `{"method":"POST","path":"/orders?select=customer","prefer":"return=representation","body":{"customer":"cy"}}`, 201, `[{"customer":"cy"}]`, "preference-applied", "return=representation"},
		{"an insert with a location", `{"method":"POST","path":"/items","prefer":"return=headers-only","body":{"order_id":2,"sku":"a b","n":1}}`, 201, `null`, "location", "/items?order_id=eq.2&sku=eq.a+b"},
		{"an insert of no rows", `{"method":"POST","path":"/orders","prefer":"return=representation","body":[]}`, 201, `[]`, "content-range", "*/*"},
		{"an insert of CSV", `{"method":"POST","path":"/orders","headers":{"content-type":"text/csv"},"body":"customer\nx\ny","prefer":"count=exact"}`, 201, `null`, "content-range", "*/2"},
		{"an update", `{"method":"PATCH","path":"/items?sku=eq.pen&select=n","prefer":"return=representation","body":{"n":5}}`, 200, `[{"n":5}]`, "content-range", "0-0/*"},
		{"a put", `{"method":"PUT","path":"/items?order_id=eq.1&sku=eq.pad","body":{"order_id":1,"sku":"pad","n":3}}`, 204, `null`, "", ""},
		{"a delete", `{"method":"DELETE","path":"/items?sku=eq.ink","prefer":"count=exact"}`, 204, `null`, "content-range", "*/1"},
		{"a call", `{"method":"POST","path":"/rpc/place","body":{"customer":"dan"}}`, 200, `6`, "", ""},
		{"a call by GET", `{"method":"GET","path":"/rpc/ordered?customer=ada&select=id"}`, 200, `[{"id":1}]`, "", ""},
		{"a call that decides about its answer", `{"method":"POST","path":"/rpc/teapot"}`, 418, `"short and stout"`, "x-tea", "green"},
		{"what a function sees", `{"method":"GET","path":"/rpc/seen","prefer":"count=none"}`, 200,
			`{"method" : "GET", "path" : "/rpc/seen", "client" : "tests", "prefer" : "count=none"}`, "", ""},
	}
	var list []string
	for _, test := range tests {
		list = append(list, test.operation)
	}
	answer, answers := batch(t, s, "["+strings.Join(list, ",\n")+"]", s.Service(), "X-Client-Info: tests", "Prefer: handling=lenient")
	if answers == nil {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := answers[i]
			if body := strings.ReplaceAll(string(got.Body), "\n", ""); got.Status != test.status || body != test.body {
				t.Errorf("%d %s\nwant %d %s", got.Status, body, test.status, test.body)
			}
			if test.header != "" && got.Headers[test.header] != test.value {
				t.Errorf("%s is %q, want %q", test.header, got.Headers[test.header], test.value)
			}
		})
	}
	t.Run("nothing at all", func(t *testing.T) {
		if answer, answers := batch(t, s, "[]"); answers == nil || len(answers) != 0 {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestOperationsUseWhatEarlierOnesReturned(t *testing.T) {
	s := startShop(t, nil)
	nasty := `),(a,"b\\c"&customer=eq.x{$/0/body}%26*'`
	tests := []struct {
		name, operations string
		want             string // the body of the last answer
	}{
		{"in one row of a body", `
			{"method":"POST","path":"/orders?select=id","prefer":"return=representation","body":{"customer":"ada"}},
			{"method":"POST","path":"/items?select=sku,order:orders(customer)","prefer":"return=representation","body":{"sku":"pen","n":1},"refs":{"/order_id":"$/0/body/0/id"}}`,
			`[{"sku":"pen","order":{"customer":"ada"}}]`},
		{"in many rows of a body", `
			{"method":"POST","path":"/orders?select=id","prefer":"return=representation","headers":{"accept":"application/vnd.pgrst.object+json"},"body":{"customer":"bea"}},
			{"method":"POST","path":"/items?select=sku","prefer":"return=representation","body":[{"sku":"a","n":1,"order_id":0},{"sku":"b","n":2,"order_id":0}],
			 "refs":{"/0/order_id":"$/0/body/id","/1/order_id":"$/0/body/id"}},
			{"method":"GET","path":"/orders?select=customer,items(sku)&items.order=sku&id=eq.{$/0/body/id}"}`,
			`[{"customer":"bea","items":[{"sku":"a"},{"sku":"b"}]}]`},
		{"deep inside of a value, as a whole value", `
			{"method":"POST","path":"/orders?select=customer,note","prefer":"return=representation","body":{"customer":"cy","note":{"a":[1,{"b":2.50}]}}},
			{"method":"POST","path":"/orders?select=note","prefer":"return=representation","body":{"customer":"cy","note":{"copy":[0,1]}},"refs":{"/note/copy/1":"$/0/body/0/note","/note/name":"$/0/body/0/customer"}}`,
			`[{"note":{"copy": [0, {"a": [1, {"b": 2.50}]}], "name": "cy"}}]`},
		{"a scalar result of a function", `
			{"method":"POST","path":"/rpc/place","body":{"customer":"dan"}},
			{"method":"GET","path":"/orders?select=customer&id=eq.{$/0/body}"}`,
			`[{"customer":"dan"}]`},
		{"as an argument of a function", `
			{"method":"POST","path":"/orders?select=customer","prefer":"return=representation","body":{"customer":"eve & co"}},
			{"method":"GET","path":"/rpc/ordered?select=customer&customer={$/0/body/0/customer}"}`,
			`[{"customer":"eve & co"}]`},
		{"as elements of a list", `
			{"method":"POST","path":"/orders?select=id,customer&columns=customer","prefer":"return=representation","body":[{"customer":"f,1"},{"customer":"f\"2"}]},
			{"method":"GET","path":"/orders?select=customer&order=id&customer=in.(no,{$/0/body/0/customer},\"{$/0/body/1/customer}\")"}`,
			`[{"customer":"f,1"}, {"customer":"f\"2"}]`},
		{"within a tree of conditions", `
			{"method":"POST","path":"/orders?select=customer","prefer":"return=representation","body":{"customer":"g),id.gt.0"}},
			{"method":"GET","path":"/orders?select=customer&or=(id.lt.0,and(customer.eq.{$/0/body/0/customer},id.gt.0))"}`,
			`[{"customer":"g),id.gt.0"}]`},
		{"text that could be taken for structure", `
			{"method":"POST","path":"/orders?select=customer","prefer":"return=representation","body":{"customer":` + quoted(nasty) + `}},
			{"method":"GET","path":"/orders?select=customer&customer=eq.{$/0/body/0/customer}&customer=in.({$/0/body/0/customer})&or=(customer.eq.{$/0/body/0/customer},customer.in.({$/0/body/0/customer}))"}`,
			`[{"customer":` + quoted(nasty) + `}]`},
		{"text that reads like a reference stays text", `
			{"method":"POST","path":"/orders?select=customer","prefer":"return=representation","body":{"customer":"$/0/body/0/id"}},
			{"method":"GET","path":"/orders?select=customer&customer=in.($/0/body/0/id,%7B$/0/body/0/customer%7D)"}`,
			`[{"customer":"$/0/body/0/id"}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer, answers := batch(t, s, "["+test.operations+"]", s.Service())
			if answers == nil {
				t.Fatalf("%d %s", answer.Status, answer.Body)
			}
			if got := strings.ReplaceAll(string(answers[len(answers)-1].Body), "\n", ""); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			if place := answers[len(answers)-1].Headers["content-location"]; strings.Contains(test.operations, "{$/") && place != "" {
				t.Errorf("content-location %s holds what stood for the reference", place)
			}
		})
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return strings.NewReplacer(`\u0026`, "&").Replace(string(b))
}

func TestABatchThatCannotBeDoneIsRefused(t *testing.T) {
	s := startShop(t, nil)
	const insert = `{"method":"POST","path":"/orders?select=id,note","prefer":"return=representation","body":{"customer":"ada"}}`
	many := strings.Repeat(insert+",", 100) + insert
	tests := []struct {
		name, body string
		status     int
		code       string
		index      int // -1 for none
		details    string
	}{
		{"no JSON", `x`, 400, "BSLT100", -1, "not a JSON array"},
		{"no array", `{}`, 400, "BSLT100", -1, "not a JSON array"},
		{"an end in the middle", `[` + insert, 400, "BSLT100", -1, "not complete"},
		{"text behind", `[] []`, 400, "BSLT100", -1, "more behind"},
		{"no UTF-8", "[\"\xff\"]", 400, "BSLT100", -1, "UTF-8"},
		{"too many", `[` + many + `]`, 400, "BSLT100", -1, "more than 100"},
		{"no operation", `[` + insert + `,1]`, 400, "BSLT100", 1, "object"},
		{"an unknown member", `[{"method":"GET","path":"/orders","when":1}]`, 400, "BSLT100", 0, "when"},
		{"no path", `[{"method":"GET"}]`, 400, "BSLT100", 0, "path"},
		{"no method", `[{"path":"/orders"}]`, 400, "BSLT100", 0, "method"},
		{"a member in another case", `[{"Method":"GET","path":"/orders"}]`, 400, "BSLT100", 0, "Method"},
		{"a member twice", `[{"method":"GET","path":"/orders","method":"DELETE"}]`, 400, "BSLT100", 0, "twice"},
		{"headers twice", `[{"method":"GET","path":"/orders","headers":{"accept":"text/csv"},"headers":{"range":"0-0"}}]`, 400, "BSLT100", 0, "twice"},
		{"a reference twice", `[` + insert + `,{"method":"POST","path":"/orders","body":{},"refs":{"/customer":"$/0/body/0/note","/custom\u0065r":"$/0/body/0/id"}}]`, 400, "BSLT100", 1, "twice"},
		{"a deep body", `[{"method":"POST","path":"/orders","body":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}]`, 400, "BSLT100", 0, "depth"},
		{"an array for an operation", `[[]]`, 400, "BSLT100", 0, "object"},
		{"null for an operation", `[null]`, 400, "BSLT100", 0, "object"},
		{"a path that is no text", `[{"method":"GET","path":1}]`, 400, "BSLT100", 0, "\"path\" cannot be number"},
		{"a header that is no text", `[{"method":"GET","path":"/orders","headers":{"accept":1}}]`, 400, "BSLT100", 0, "cannot be number"},
		{"a header twice", `[{"method":"GET","path":"/orders","headers":{"accept":"text/csv","Accept":"application/json"}}]`, 400, "BSLT100", 0, "twice"},
		{"an unknown method", `[{"method":"BREW","path":"/orders"}]`, 405, "PGRST117", 0, ""},
		{"a path with what stands before all", `[{"method":"GET","path":"/rest/v1/orders"}]`, 404, "PGRST125", 0, "behind /rest/v1"},
		{"a batch in a batch", `[{"method":"POST","path":"/","body":[]}]`, 404, "PGRST125", 0, ""},
		{"a header that is not an operation's", `[{"method":"GET","path":"/orders","headers":{"authorization":"Bearer x"}}]`, 400, "BSLT100", 0, "authorization"},
		{"a header with a line break", `[{"method":"GET","path":"/orders","prefer":"a\r\nb"}]`, 400, "BSLT100", 0, "Prefer"},
		{"an unknown table", `[` + insert + `,{"method":"GET","path":"/nothing"}]`, 404, "PGRST205", 1, ""},
		{"a bad filter", `[` + insert + `,{"method":"GET","path":"/orders?id=eq"}]`, 400, "PGRST100", 1, ""},
		{"a schema that is not exposed", `[{"method":"GET","path":"/orders","headers":{"accept-profile":"basalt"}}]`, 406, "PGRST106", 0, ""},
		{"a media type that is not there", `[{"method":"GET","path":"/orders","headers":{"accept":"image/png"}}]`, 406, "PGRST107", 0, ""},
		{"a reference to itself", `[{"method":"GET","path":"/orders?id=eq.{$/0/body/0/id}"}]`, 400, "BSLT101", 0, "earlier"},
		{"a reference to a later one", `[{"method":"POST","path":"/orders","body":{},"refs":{"/customer":"$/1/body/0/id"}},` + insert + `]`, 400, "BSLT101", 0, "earlier"},
		{"a reference to a value that is not there", `[` + insert + `,{"method":"GET","path":"/orders?id=eq.{$/0/body/1/id}"}]`, 400, "BSLT101", 1, "leads to nothing"},
		{"a reference to a body that is not there", `[{"method":"POST","path":"/orders","body":{"customer":"a"}},{"method":"POST","path":"/orders","body":{},"refs":{"/customer":"$/0/body/0/customer"}}]`, 400, "BSLT101", 1, "leads to nothing"},
		{"a reference to null in a path", `[` + insert + `,{"method":"GET","path":"/orders?id=eq.{$/0/body/0/note}"}]`, 400, "BSLT101", 1, "no text"},
		{"a reference to rows in a path", `[` + insert + `,{"method":"GET","path":"/orders?id=eq.{$/0/body}"}]`, 400, "BSLT101", 1, "no text"},
		{"a reference to a status", `[` + insert + `,{"method":"GET","path":"/orders?id=eq.{$/0/status}"}]`, 400, "BSLT101", 1, "body"},
		{"a reference without an end", `[` + insert + `,{"method":"GET","path":"/orders?id=eq.{$/0/body"}]`, 400, "BSLT101", 1, "no end"},
		{"a reference in the place of a column", `[` + insert + `,{"method":"GET","path":"/orders?{$/0/body/0/id}=eq.1"}]`, 400, "BSLT101", 1, "whole value"},
		{"a reference in select", `[` + insert + `,{"method":"GET","path":"/orders?select={$/0/body/0/id}"}]`, 400, "BSLT101", 1, "whole value"},
		{"a reference in a part of a value", `[` + insert + `,{"method":"GET","path":"/orders?customer=eq.x{$/0/body/0/id}"}]`, 400, "BSLT101", 1, "whole value"},
		{"a reference in an array", `[` + insert + `,{"method":"GET","path":"/orders?customer=eq(any).{{$/0/body/0/id}}"}]`, 400, "BSLT101", 1, "whole value"},
		{"a reference in the place of an operator", `[` + insert + `,{"method":"GET","path":"/orders?customer={$/0/body/0/id}"}]`, 400, "PGRST100", 1, "{$/0/body/0/id}"},
		{"a reference as a limit", `[` + insert + `,{"method":"GET","path":"/orders?limit={$/0/body/0/id}"}]`, 400, "", 1, ""},
		{"a place that the body has not", `[` + insert + `,{"method":"POST","path":"/orders","body":{"customer":"x"},"refs":{"/note/a/b":"$/0/body/0/id"}}]`, 400, "BSLT101", 1, "no place"},
		{"a row that the body has not", `[` + insert + `,{"method":"POST","path":"/orders","body":[{"customer":"x"}],"refs":{"/1/customer":"$/0/body/0/id"}}]`, 400, "BSLT101", 1, "no place"},
		{"a place that is no pointer", `[` + insert + `,{"method":"POST","path":"/orders","body":{"customer":"x"},"refs":{"customer":"$/0/body/0/id"}}]`, 400, "BSLT101", 1, "RFC 6901"},
		{"an answer that is not one row", `[` + insert + `,{"method":"GET","path":"/orders","headers":{"accept":"application/vnd.pgrst.object+json"}},{"method":"GET","path":"/items","headers":{"accept":"application/vnd.pgrst.object+json"}}]`, 406, "PGRST116", 2, ""},
		{"more rows than may be affected", `[` + insert + `,` + insert + `,{"method":"PATCH","path":"/orders?id=gt.0","prefer":"handling=strict,max-affected=1","body":{"customer":"x"}}]`, 400, "PGRST124", 2, ""},
		{"a put of another row", `[` + insert + `,{"method":"PUT","path":"/late?id=eq.1","body":{"id":2}}]`, 400, "PGRST115", 1, ""},
		{"a page beyond the end", `[` + insert + `,{"method":"GET","path":"/orders?offset=50","prefer":"count=exact"}]`, 416, "PGRST103", 1, ""},
		{"a check that a row fails", `[` + insert + `,{"method":"POST","path":"/items","body":{"order_id":1,"sku":"x","n":0}}]`, 400, "23514", 1, ""},
		{"a write by GET", `[` + insert + `,{"method":"GET","path":"/rpc/place?customer=x"}]`, 405, "25006", 1, ""},
		{"a constraint that is checked at the end", `[` + insert + `,{"method":"POST","path":"/late","body":{"id":1,"ref":2}}]`, 409, "23503", -1, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.Database.Exec(t, `truncate orders restart identity cascade`)
			answer, answers := batch(t, s, test.body, s.Service())
			if answers != nil {
				t.Fatalf("it was done: %s", answer.Body)
			}
			var refusal struct {
				Code, Message string
				Details, Hint string
				Index         *int
			}
			answer.JSON(t, &refusal)
			index := -1
			if refusal.Index != nil {
				index = *refusal.Index
			}
			if answer.Status != test.status || test.code != "" && refusal.Code != test.code || index != test.index ||
				!strings.Contains(refusal.Message+refusal.Details+refusal.Hint, test.details) {
				t.Errorf("%d %s\nwant %d %s of %d: %s", answer.Status, answer.Body, test.status, test.code, test.index, test.details)
			}
			var rows int
			if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from orders`).Scan(&rows); err != nil || rows != 0 {
				t.Errorf("%d rows are there (%v)", rows, err)
			}
		})
	}
}

func TestABatchWithAFailureAtAnyPlaceLeavesNothing(t *testing.T) {
	s := startShop(t, nil)
	const k = 8
	good := func(i int) string {
		switch i % 4 {
		case 0:
			return fmt.Sprintf(`{"method":"POST","path":"/late","body":{"id":%d}}`, i)
		case 1:
			return fmt.Sprintf(`{"method":"POST","path":"/late?select=id","prefer":"return=representation","body":[{"id":%d},{"id":%d}]}`, i, 100+i)
		case 2:
			return fmt.Sprintf(`{"method":"POST","path":"/late","body":{},"refs":{"/id":"$/%d/body/1/id"},"prefer":"resolution=merge-duplicates"}`, i-1)
		}
		return `{"method":"PATCH","path":"/late?id=gte.0","body":{"ref":null}}`
	}
	failures := []string{
		`{"method":"POST","path":"/late","body":{"id":"x"}}`,
		`{"method":"POST","path":"/late","body":[{"id":500},{"id":500}]}`,
		`{"method":"GET","path":"/nothing"}`,
		`{"method":"GET","path":"/late?id=eq.x"}`,
		`{"method":"GET","path":"/late?id=lt.0","headers":{"accept":"application/vnd.pgrst.object+json"}}`,
		`{"method":"GET","path":"/rpc/place?customer=x"}`,
		`{"method":"POST","path":"/rpc/large","body":{"n":"x"}}`,
	}
	for _, failure := range failures {
		for at := range k + 1 {
			s.Database.Exec(t, `truncate late`)
			var list []string
			for i := range k {
				if i == at {
					list = append(list, failure)
				} else {
					list = append(list, good(i))
				}
			}
			if at < k && at%4 == 1 {
				list[at+1] = good(3)
			}
			answer, answers := batch(t, s, "["+strings.Join(list, ",")+"]", s.Service())
			var rows int
			if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from late`).Scan(&rows); err != nil {
				t.Fatal(err)
			}
			if at == k {
				if answers == nil || rows != 6 {
					t.Errorf("without a failure: %d %s, %d rows", answer.Status, answer.Body, rows)
				}
				continue
			}
			if answers != nil || !strings.Contains(answer.Body, fmt.Sprintf(`"index":%d`, at)) || rows != 0 {
				t.Errorf("%s at %d: %d %s, %d rows", failure, at, answer.Status, answer.Body, rows)
			}
		}
	}
}

func TestTheAnswersOfABatchAreBoundedTogether(t *testing.T) {
	s := startShop(t, func(s *api.Settings) { s.AnswerMemory = 200 << 10; s.MaxRows = 0 })
	const insert = `{"method":"POST","path":"/orders","body":{"customer":"ada"}}`
	large := func(n int) string { return fmt.Sprintf(`{"method":"GET","path":"/rpc/large?n=%d"}`, n) }
	if answer, answers := batch(t, s, `[`+insert+`,`+large(90)+`,`+large(90)+`]`, s.Service()); answers == nil {
		t.Errorf("%d %.200s", answer.Status, answer.Body)
	}
	answer, answers := batch(t, s, `[`+insert+`,`+large(90)+`,`+large(90)+`,`+large(90)+`,`+insert+`]`, s.Service())
	if answers != nil || answer.Status != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body, `"index":3`) {
		t.Errorf("%d %.200s", answer.Status, answer.Body)
	}
	var rows int
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from orders`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows are there (%v)", rows, err)
	}
}

func TestABatchMayBeTriedWithoutKeepingIt(t *testing.T) {
	s := startShop(t, func(s *api.Settings) { s.RestTxEnd = "commit-allow-override"; s.RestIdempotency = true })
	const operations = `[
		{"method":"POST","path":"/orders?select=customer","prefer":"return=representation,tx=commit","body":{"customer":"ada"}},
		{"method":"GET","path":"/orders?select=customer"}]`
	for range 2 {
		answer, answers := batch(t, s, operations, s.Service(), "Prefer: tx=rollback", key("try"))
		if answers == nil || string(answers[1].Body) != `[{"customer":"ada"}]` || answers[0].Headers["preference-applied"] != "return=representation" ||
			answer.Header.Get("Preference-Applied") != "tx=rollback" || answer.Header.Get(replayed) != "" {
			t.Errorf("%d %v %s", answer.Status, answer.Header, answer.Body)
		}
	}
	if answer, _ := batch(t, s, `[{"method":"POST","path":"/late","body":{"id":1,"ref":2}}]`, s.Service(), "Prefer: tx=rollback"); answer.Status != http.StatusConflict {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if n := count(t, s, "orders"); n != 0 {
		t.Errorf("%d orders are kept", n)
	}
	if answer, answers := batch(t, s, operations, s.Service()); answers == nil || answer.Header.Get("Preference-Applied") != "" {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if n := count(t, s, "orders"); n != 1 {
		t.Errorf("%d orders are kept", n)
	}
}

func TestEachOperationRunsWhatRunsBeforeARequest(t *testing.T) {
	s := apitest.Start(t, shopSchema+`
create table visits (path text);
grant insert on visits to anon, service_role;
create function visit() returns void language plpgsql as $$ begin
  insert into visits values (current_setting('request.path'));
  if current_setting('request.path') = '/late' then
    raise sqlstate 'PT403' using message = 'not here';
  end if;
end $$;`, func(s *api.Settings) { s.RestPreRequest = "public.visit"; s.RestIdempotency = true })
	const operations = `{"method":"POST","path":"/orders","body":{"customer":"ada"}},{"method":"POST","path":"/rpc/place","body":{"customer":"bob"}}`
	if answer, answers := batch(t, s, `[`+operations+`]`, s.Service(), key("k")); answers == nil {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	if n := count(t, s, "visits"); n != 2 {
		t.Errorf("%d visits", n)
	}
	answer, _ := batch(t, s, `[`+operations+`,{"method":"POST","path":"/late","body":{"id":1}}]`, s.Service())
	if answer.Status != http.StatusForbidden || !strings.Contains(answer.Body, `"index":2`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if n := count(t, s, "visits"); n != 2 {
		t.Errorf("%d visits", n)
	}
}

// A batch works on while the database's definitions change under it, and its statements with them.
func TestABatchMeetsDefinitionsThatChanged(t *testing.T) {
	s := startShop(t, func(s *api.Settings) { s.PoolSize = 1 })
	const operations = `[{"method":"POST","path":"/orders?select=*","prefer":"return=representation","body":{"customer":"ada"}},
		{"method":"GET","path":"/orders?id=eq.{$/0/body/0/id}"}]`
	for i := range 3 {
		if i > 0 {
			s.Database.Exec(t, fmt.Sprintf(`create type mood%[1]d as enum ('fine'); alter table orders add column mood%[1]d mood%[1]d not null default 'fine'`, i))
		}
		answer, answers := batch(t, s, operations, s.Service())
		if answers == nil {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		if n := count(t, s, "orders"); n != i+1 {
			t.Fatalf("%d orders after %d batches", n, i+1)
		}
	}
}
