package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// boundsSchema has no function that decides about responses: with one, all answers wait for their rows anyhow.
const boundsSchema = `
create table notes (id bigint generated always as identity primary key, note jsonb);
create function noted(n int) returns text language sql volatile as $$ insert into notes (note) values ('1'); select repeat('x', n) $$;
create function copied(x json) returns json language sql stable as 'select x';
create function spelled(x text) returns json language sql stable as 'select x::json';
create function controls(n int) returns setof text language sql stable as 'select repeat(chr(1), n)';
`

func startBounds(t *testing.T) *apitest.Server {
	return apitest.Start(t, boundsSchema, func(s *api.Settings) {
		s.PoolSize = 1
		s.AnswerMemory = 200 << 10
		s.MaxRows = 0
		s.RestIdempotency = true
	})
}

// What a connection has run before it needs not be described again, so that a COMMIT could ride along: each is tried
// twice.
func TestABatchThatIsTooLargeToBeAnsweredDoesNothing(t *testing.T) {
	s := startBounds(t)
	long := strings.Repeat("y", 20_000)
	const noted = `{"method":"POST","path":"/rpc/noted","body":{"n":%d}}`
	insert := `{"method":"POST","path":"/notes?select=a:note,b:note,c:note,d:note","prefer":"return=representation","body":{"note":"` + long + `"}}`
	tests := []struct {
		name       string
		operations []string
		index      int
	}{
		{"results of functions", []string{fmt.Sprintf(noted, 90_000), fmt.Sprintf(noted, 90_000), fmt.Sprintf(noted, 90_000)}, 2},
		{"single rows that are written", []string{insert, insert, insert}, 2},
		{"text that grows when it is written as JSON", []string{insert,
			`{"method":"GET","path":"/rpc/controls?n=30000","headers":{"accept":"text/csv"}}`}, 1},
		{"a value that many references lead to", []string{insert,
			`{"method":"POST","path":"/notes","body":{"note":[1,2,3,4,5,6,7,8]},"refs":{"/note/0":"$/0/body/0/a","/note/1":"$/0/body/0/a","/note/2":"$/0/body/0/a",
			"/note/3":"$/0/body/0/a","/note/4":"$/0/body/0/a","/note/5":"$/0/body/0/a","/note/6":"$/0/body/0/a","/note/7":"$/0/body/0/a"}}`}, 1},
		{"a value that many parameters refer to", []string{insert,
			`{"method":"DELETE","path":"/notes?or=(` + strings.Repeat("note->>0.eq.{$/0/body/0/a},", 7) + `id.gt.0)"}`}, 1},
	}
	for _, test := range tests {
		for _, headers := range [][]string{{s.Service()}, {s.Service()}, {s.Service(), key(test.name)}} {
			t.Run(test.name, func(t *testing.T) {
				answer, answers := batch(t, s, "["+strings.Join(test.operations, ",")+"]", headers...)
				if answers != nil || answer.Status != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body, fmt.Sprintf(`"index":%d`, test.index)) {
					t.Errorf("%d %.300s", answer.Status, answer.Body)
				}
				if notes, keys := count(t, s, "notes"), count(t, s, "basalt.idempotency_keys"); notes != 0 || keys != 0 {
					t.Errorf("%d notes and %d keys are left", notes, keys)
					s.Database.Exec(t, `truncate notes`)
				}
			})
		}
	}
	head := `,{"method":"HEAD","path":"/rpc/controls?n=300000","prefer":"count=exact"}`
	if _, answers := batch(t, s, "["+insert+head+`]`, s.Service()); answers == nil || answers[1].Headers["content-range"] != "0-0/1" || string(answers[1].Body) != "null" {
		t.Errorf("a head is not answered: %v", answers)
	}
	if _, answers := batch(t, s, "["+insert+`,{"method":"DELETE","path":"/notes?note->>0=eq.{$/0/body/0/a}"}]`, s.Service()); answers == nil {
		t.Error("what is not too large is refused")
	}
}

func TestReferencesLeadIntoJSONOfEverySpelling(t *testing.T) {
	s := startBounds(t)
	tests := []struct{ name, body, reference, want string }{
		{"white space everywhere", `{"x":" \n\t{ \"a\" : [ 1 , { \"b\" : [ ] } , \"c]\\\\\" ] , \"d\":2 } "}`, "/a/2", `"c]\\"`},
		{"white space around a number", `{"x":"  5  "}`, "", "5"},
		{"an escaped name", `{"x":"{\"\\u0061\\n\\\"\":7}"}`, "/a\n\"", "7"},
		{"a name with a slash and a tilde", `{"x":"{\"~/\":true}"}`, "/~0~1", "true"},
		{"the same name twice", `{"x":"{\"a\":1,\"a\":2}"}`, "/a", "2"},
		{"a number beyond all", `{"x":"{\"a\":[-1.5e400]}"}`, "/a/0", "-1.5e400"},
		{"names of prototypes", `{"x":"{\"__proto__\":{\"constructor\":1}}"}`, "/__proto__/constructor", "1"},
		{"deep", `{"x":"` + strings.Repeat("[", 30) + "9" + strings.Repeat("]", 30) + `"}`, strings.Repeat("/0", 30), "9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, answers := batch(t, s, `[{"method":"POST","path":"/rpc/spelled","body":`+test.body+`},
				{"method":"POST","path":"/rpc/copied","body":{"x":0},"refs":{"/x":`+quoted("$/0/body"+test.reference)+`}},
				{"method":"POST","path":"/rpc/copied","body":{},"refs":{"/x":`+quoted("$/0/body"+test.reference)+`}}]`, s.Service())
			if answers == nil || string(answers[1].Body) != test.want || string(answers[2].Body) != test.want {
				t.Errorf("%+v, want %s", answers, test.want)
			}
		})
	}
	answer, _ := batch(t, s, `[{"method":"POST","path":"/rpc/spelled","body":{"x":" null"}},{"method":"GET","path":"/notes?id=eq.{$/0/body}"}]`, s.Service())
	if answer.Status != http.StatusBadRequest || !strings.Contains(answer.Body, "BSLT101") {
		t.Errorf("null in a path: %d %s", answer.Status, answer.Body)
	}
}
