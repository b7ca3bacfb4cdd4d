package api_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// TestStreamsThatFunctionsHaveASayIn: what a function decides about an answer holds, or the answer does not arrive.
func TestStreamsThatFunctionsHaveASayIn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large+`
		create function decide(id int) returns int language sql stable as $$
		  select case when set_config('response.headers', '[{"X-Decided":"yes"}]', true) is not null then $1 end
		$$;
		create view decided as select case when id % 150000 = 0 then decide(id) else id end as id, name from large;
		create function counted(n int) returns setof large language sql stable as $$ select * from large limit n $$;
		create function written(n int) returns setof large language sql volatile as $$ select * from large limit n $$;`,
		func(s *api.Settings) { s.MaxRows, s.AnswerMemory = 0, 2<<20 })
	if answer := s.Do(t, "GET", "/rest/v1/decided?id=eq.150000", ""); answer.Status != 200 || answer.Header.Get("X-Decided") != "yes" {
		t.Errorf("a small answer: %d %v", answer.Status, answer.Header)
	}
	for _, path := range []string{"large", "rpc/counted?n=200000"} {
		response := ask(t, s, "GET", path)
		scanner := bufio.NewScanner(response.Body)
		n := 0
		for scanner.Scan() {
			n++
		}
		if scanner.Err() != nil || response.StatusCode != 200 || n != rows {
			t.Errorf("%s: %d, %d rows, %v", path, response.StatusCode, n, scanner.Err())
		}
	}
	response := ask(t, s, "GET", "decided")
	if body, err := io.ReadAll(response.Body); err == nil || len(body) < 2<<20 {
		t.Errorf("a decision that comes too late: %d bytes, %v", len(body), err)
	}
	if answer := s.Do(t, "POST", "/rest/v1/rpc/written", `{"n":200000}`); answer.Status != 413 || !strings.Contains(answer.Body, "54000") {
		t.Errorf("a function that may write: %d %.200s", answer.Status, answer.Body)
	}
	idle(t, s)
}
