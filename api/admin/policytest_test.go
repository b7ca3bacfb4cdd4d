package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

const (
	ada = "11111111-1111-4111-8111-111111111111"
	bob = "22222222-2222-4222-8222-222222222222"
)

func policyWorld(t *testing.T) *dashboard {
	t.Helper()
	return openDashboard(t, `
		create schema private;
		create table members (team int, person uuid);
		create function private.is_member(team int) returns boolean language sql stable security definer set search_path = ''
			as 'select exists (select from public.members m where m.team = $1 and m.person = auth.uid())';
		grant execute on function private.is_member to authenticated;
		create table todos (id int primary key, owner uuid default auth.uid(), team int, title text, done boolean not null default false, check (title <> ''));
		grant all on todos to anon, authenticated;
		alter table todos enable row level security;
		create policy own on todos to authenticated using (owner = (select auth.uid())) with check (owner = auth.uid());
		create policy team on todos for select to authenticated using (private.is_member(team));
		create policy "not done" on todos as restrictive for update using (not done);
		insert into members values (7, '`+ada+`');
		insert into todos values (1, '`+ada+`', null, 'mine', false), (2, '`+bob+`', 7, 'of my team', false), (3, '`+bob+`', 8, 'hidden', false), (4, '`+ada+`', null, 'finished', true);
		create table plain (id int);
		insert into plain values (1);
		grant select on plain to anon;
		create table locked (id int);
		alter table locked enable row level security;
		revoke all on locked from public, anon, authenticated;
		create table loops (id int);
		alter table loops enable row level security;
		grant select on loops to anon;
		create policy around on loops using (id in (select l.id from loops l));
		insert into loops values (1);
		create table halves (a int, b int);
		alter table halves enable row level security;
		revoke all on halves from public, anon, authenticated;
		grant select (a) on halves to anon;
		create policy big on halves using (a > 1);
		insert into halves values (1, 1), (2, 2)`, administrator.Editor)
}

func (d *dashboard) policyTest(t *testing.T, body admin.PolicyTestBody) *admin.PolicyTestedBody {
	t.Helper()
	answer := d.call(t, "POST", "/policies/test", body)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var tested admin.PolicyTestedBody
	answer.JSON(t, &tested)
	return &tested
}

// verdicts writes an answer in few words: what became of each row, and the answers of each stage's policies.
func verdicts(tested *admin.PolicyTestedBody) string {
	var b strings.Builder
	for _, row := range tested.Rows {
		fmt.Fprintf(&b, "%s", row.Outcome)
		for i, verdict := range row.Stages {
			if !verdict.Asked {
				continue
			}
			fmt.Fprintf(&b, " %s:%v(", tested.Stages[i].Stage, verdict.Passed)
			for j, answer := range verdict.Answers {
				if j > 0 {
					b.WriteString(" ")
				}
				b.WriteString(tested.Stages[i].Policies[j].Name + "=" + answer)
			}
			b.WriteString(")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestThePolicyTesterTellsWhichPolicyDecides(t *testing.T) {
	t.Parallel()
	d := policyWorld(t)
	asAda := json.RawMessage(`{"sub": "` + ada + `", "role": "authenticated"}`)
	for _, test := range []struct {
		name string
		body admin.PolicyTestBody
		want string
	}{
		{
			"rows are read by the policy that lets them through",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "select"},
			"passed read:true(own=true team=false)\npassed read:true(own=false team=true)\nhidden read:false(own=false team=false)\npassed read:true(own=true team=false)\n",
		},
		{
			"nobody is let in without a policy for their role",
			admin.PolicyTestBody{Table: "todos", Role: "anon", Verb: "select", Filter: "todos.id = 1"},
			"hidden read:false()\n",
		},
		{
			"a restrictive policy holds an update back",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "update", Filter: "owner = '" + ada + "'", Set: values("title", "new")},
			"passed find:true(own=true team=false) change:true(own=true not done=true) write:true(own=true not done=true) read_back:true(own=true team=false)\n" +
				"hidden find:true(own=true team=false) change:false(own=true not done=false) write:false(own=true not done=false) read_back:true(own=true team=false)\n",
		},
		{
			"a row that is given away is refused",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "update", Filter: "id = 1", Set: values("owner", bob)},
			"refused find:true(own=true team=false) change:true(own=true not done=true) write:false(own=false not done=true) read_back:false(own=false team=false)\n",
		},
		{
			"a row of one's own is inserted with its defaults",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "insert", Set: values("id", "9", "title", "x"), ReadBack: true},
			"passed write:true(own=true) read_back:true(own=true team=false)\n",
		},
		{
			"a row of somebody else's is not",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "insert", Set: values("id", "9", "title", "x", "owner", bob)},
			"refused write:false(own=false)\n",
		},
		{
			"what breaks a constraint has failed",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "insert", Set: values("id", "1", "title", "")},
			"failed\n",
		},
		{
			"a delete finds the team's row and may not touch it",
			admin.PolicyTestBody{Table: "todos", Role: "authenticated", Claims: asAda, Verb: "delete", Filter: "id < 3"},
			"passed find:true(own=true team=false) change:true(own=true)\nhidden find:true(own=false team=true) change:false(own=false)\n",
		},
		{
			"no policy is asked where row level security is off",
			admin.PolicyTestBody{Table: "plain", Role: "anon", Verb: "select"},
			"passed\n",
		},
		{
			"a role that bypasses sees all",
			admin.PolicyTestBody{Table: "todos", Role: "service_role", Verb: "select", Filter: "id = 3"},
			"passed\n",
		},
		{
			"with some columns alone the policies tell",
			admin.PolicyTestBody{Table: "halves", Role: "anon", Verb: "select"},
			"hidden read:false(big=false)\npassed read:true(big=true)\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.body.Schema = "public"
			tested := d.policyTest(t, test.body)
			if got := verdicts(tested); got != test.want {
				t.Errorf("got\n%swant\n%s%+v %+v", got, test.want, tested.Refused, tested.Limits)
			}
		})
	}
	t.Run("nothing of it stays", func(t *testing.T) {
		var kept string
		err := d.Database.Pool.QueryRow(t.Context(), `select string_agg(id || title, ' ' order by id) from todos`).Scan(&kept)
		if err != nil || kept != "1mine 2of my team 3hidden 4finished" {
			t.Errorf("%q, %v", kept, err)
		}
	})
	t.Run("a missing grant is told before any row", func(t *testing.T) {
		tested := d.policyTest(t, admin.PolicyTestBody{Schema: "public", Table: "locked", Role: "authenticated", Verb: "delete"})
		if tested.Refused == nil || tested.Refused.Code != "42501" {
			t.Errorf("%+v", tested)
		}
	})
	t.Run("a policy that goes round in circles is told", func(t *testing.T) {
		tested := d.policyTest(t, admin.PolicyTestBody{Schema: "public", Table: "loops", Role: "anon", Verb: "select"})
		if tested.Refused == nil || tested.Refused.Code != "42P17" || len(tested.Limits) != 1 {
			t.Errorf("%+v", tested)
		}
	})
	t.Run("two hundred rows are looked at", func(t *testing.T) {
		if _, err := d.Database.Pool.Exec(t.Context(), `insert into plain select generate_series(2, 300)`); err != nil {
			t.Fatal(err)
		}
		tested := d.policyTest(t, admin.PolicyTestBody{Schema: "public", Table: "plain", Role: "anon", Verb: "select"})
		if len(tested.Rows) != 200 || !tested.Truncated || tested.Bypassed == "" {
			t.Errorf("%d rows, %v, %q", len(tested.Rows), tested.Truncated, tested.Bypassed)
		}
	})
}

func TestThePolicyTesterRefusesWhatItCannotTest(t *testing.T) {
	t.Parallel()
	d := policyWorld(t)
	for _, test := range []struct {
		name   string
		body   admin.PolicyTestBody
		status int
		want   string
	}{
		{"no verb", admin.PolicyTestBody{Table: "todos", Role: "anon"}, 400, `"bad_verb"`},
		{"no role", admin.PolicyTestBody{Table: "todos", Verb: "select"}, 400, `"bad_role"`},
		{"a role that is none", admin.PolicyTestBody{Table: "todos", Verb: "select", Role: "nobody at all"}, 400, `"22023"`},
		{"a table that is none", admin.PolicyTestBody{Table: "nothing", Verb: "select", Role: "anon"}, 404, `"42P01"`},
		{"a column that is none", admin.PolicyTestBody{Table: "todos", Verb: "update", Role: "anon", Set: values("x", "1")}, 400, `"42703"`},
		{"nothing to set", admin.PolicyTestBody{Table: "todos", Verb: "update", Role: "anon"}, 400, `"bad_set"`},
		{"claims that are no object", admin.PolicyTestBody{Table: "todos", Verb: "select", Role: "anon", Claims: json.RawMessage(`[1]`)}, 400, `"bad_claims"`},
		{"a filter with an error", admin.PolicyTestBody{Table: "todos", Verb: "select", Role: "anon", Filter: "nothing = 1"}, 400, `"42703"`},
		{"a second statement in the filter", admin.PolicyTestBody{Table: "todos", Verb: "select", Role: "anon", Filter: "true); commit; select (true"}, 400, `"42601"`},
		{"a filter that takes for ever", admin.PolicyTestBody{Table: "todos", Verb: "select", Role: "anon", Filter: "pg_sleep(60) is null"}, 409, `"57014"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.body.Schema = "public"
			if answer := d.call(t, "POST", "/policies/test", test.body); answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
}

func TestAPolicyIsCheckedByPostgreSQLAndNotKept(t *testing.T) {
	t.Parallel()
	d := policyWorld(t)
	for _, test := range []struct {
		name, statement string
		status          int
		want            string
	}{
		{"one that is well", `create policy new on todos for select using (true)`, 200, "duration_ms"},
		{"again: it was not kept", `create policy new on todos for select using (true)`, 200, "duration_ms"},
		{"one that names what is not there", `create policy new on todos for select using (nobody = 1)`, 400, `"42703"`},
		{"one of a command that has no such clause", `create policy new on todos for insert using (true)`, 400, `"42601"`},
		{"the end of the transaction", `commit`, 400, `"bad_statements"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, "POST", "/policies/check", admin.PolicyCheckBody{Statements: []string{test.statement}})
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	answer := d.call(t, "GET", "/policies", nil)
	var body admin.PoliciesBody
	answer.JSON(t, &body)
	for _, table := range body.Tables {
		if table.Name == "todos" && (len(table.Policies) != 3 || !table.RLS || !table.Exposed || len(table.Columns) != 5 || len(table.Grants) < 2) {
			t.Errorf("%+v", table)
		}
	}
	if len(body.Tables) < 5 || body.Roles[0] != "anon" {
		t.Errorf("%s", answer.Body)
	}
}
