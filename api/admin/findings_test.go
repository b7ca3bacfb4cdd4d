package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

func (d *dashboard) findings(t *testing.T) *admin.FindingsBody {
	t.Helper()
	answer := d.call(t, "GET", "/policies/findings", nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var body admin.FindingsBody
	answer.JSON(t, &body)
	return &body
}

// found gives what a rule says of an object.
func found(body *admin.FindingsBody, rule, object string) *admin.FindingBody {
	i := slices.IndexFunc(body.Findings, func(f admin.FindingBody) bool { return f.Rule == rule && f.Object == object })
	if i < 0 {
		return nil
	}
	return &body.Findings[i]
}

// findingCases have for each rule what it finds, what it leaves alone, and the statement that mends it.
var findingCases = []struct{ rule, sql, bad, good, severity, fix string }{
	{
		"rls_off", `
		create table off_bad (id int);
		grant select on off_bad to anon;
		create table off_good (id int);
		grant select on off_good to anon;
		alter table off_good enable row level security;
		create policy own on off_good using (id = 1)`,
		"off_bad", "off_good", "critical", "alter table public.off_bad enable row level security",
	},
	{
		"rls_off", `
		create table unreachable (id int);
		revoke all on unreachable from public, anon, authenticated;
		create table "Bad ""name"" " (id int);
		grant select (id) on "Bad ""name"" " to authenticated`,
		`Bad "name" `, "unreachable", "critical", `alter table public."Bad ""name"" " enable row level security`,
	},
	{
		"policies_off", `
		create table forgotten (id int);
		create policy own on forgotten using (id = 1);
		create table remembered (id int);
		alter table remembered enable row level security;
		create policy own on remembered using (id = 1)`,
		"forgotten", "remembered", "critical", "alter table public.forgotten enable row level security",
	},
	{
		"policies_off", `
		create schema inside;
		create table inside.hidden (id int);
		create policy own on inside.hidden using (id = 1)`,
		"hidden", "remembered", "warning", "alter table inside.hidden enable row level security",
	},
	{
		"no_policy", `
		create table silent (id int);
		grant all on silent to authenticated;
		alter table silent enable row level security;
		create table quiet (id int);
		revoke all on quiet from public, anon, authenticated;
		alter table quiet enable row level security`,
		"silent", "quiet", "info", "revoke all on table public.silent from public, anon, authenticated",
	},
	{
		"always_true_write", `
		create table walls (id int, owner uuid);
		alter table walls enable row level security;
		create policy "any may write" on walls for insert to authenticated with check (true);
		create policy "any may read" on walls for select using (true)`,
		"any may write", "any may read", "critical", `drop policy "any may write" on public.walls`,
	},
	{
		"always_true_write", `
		create policy "any may delete" on walls for delete using (true);
		create policy "the service writes" on walls to service_role using (true) with check (true)`,
		"any may delete", "the service writes", "critical", `drop policy "any may delete" on public.walls`,
	},
	{
		"user_metadata", `
		create table claims (id int);
		alter table claims enable row level security;
		create policy trusting on claims using ((select auth.jwt()) -> 'user_metadata' ->> 'admin' = 'true');
		create policy careful on claims using ((select auth.jwt()) -> 'app_metadata' ->> 'admin' = 'true')`,
		"trusting", "careful", "critical", `'app_metadata'::text`,
	},
	{
		"auth_per_row", `
		create table notes (id int, owner uuid);
		create index on notes (owner);
		alter table notes enable row level security;
		create policy "row by row" on notes for update using (auth.uid() = owner) with check ((select auth.uid()) = owner and auth.role() <> '');
		create policy "at once" on notes for select using ((select auth.uid()) = owner and ((select auth.jwt() ->> 'x') is null))`,
		"row by row", "at once", "info", `( SELECT auth.uid() AS uid) = owner`,
	},
	{
		"definer_view", `
		create view open_notes as select * from notes;
		create view open_open_notes as select * from open_notes;
		create view own_notes with (security_invoker = true) as select * from notes;
		grant select on open_notes, open_open_notes, own_notes to anon`,
		"open_open_notes", "own_notes", "critical", "alter view public.open_open_notes set (security_invoker = true)",
	},
	{
		"definer_view", `
		create view plain_numbers as select 1 as one;
		grant select on plain_numbers to anon`,
		"open_notes", "plain_numbers", "critical", "alter view public.open_notes set (security_invoker = true)",
	},
	{
		"definer_path", `
		create function loose(a int) returns int language sql security definer as 'select 1';
		create function fast(a int) returns int language sql security definer set search_path = '' as 'select 1'`,
		"loose(a integer)", "fast(a integer)", "warning", "alter routine public.loose(integer) set search_path = public, pg_temp",
	},
	{
		"definer_exposed", `
		create function called() returns int language sql security definer set search_path = '' as 'select 1';
		grant execute on function called() to anon;
		create function kept() returns int language sql security definer set search_path = '' as 'select 1';
		revoke execute on function kept() from public, anon`,
		"called()", "kept()", "warning", "revoke execute on routine public.called() from public, anon",
	},
	{
		"truncate_grant", `
		create table emptied (id int);
		grant truncate on emptied to authenticated;
		create table full_table (id int);
		revoke truncate on full_table from public, anon, authenticated`,
		"emptied", "full_table", "warning", "revoke truncate on table public.emptied from public, anon, authenticated",
	},
	{
		"anon_write", `
		create table guests (id int);
		alter table guests enable row level security;
		grant insert, update on guests to anon;
		revoke delete on guests from anon;
		create policy "come in" on guests for insert to anon with check (id > 0);
		create table members (id int);
		alter table members enable row level security;
		revoke insert, update, delete on members from public, anon`,
		"guests", "members", "info", "revoke update on table public.guests from public, anon",
	},
	{
		"extension_in_public", `
		create extension hstore schema public;
		create schema elsewhere;
		create extension citext schema elsewhere`,
		"hstore", "citext", "warning", "alter extension hstore set schema extensions",
	},
	{
		"sensitive_column", `
		create table people (id int, name text, api_key text);
		grant select on people to authenticated;
		create table tokenizers (id int, tokenizer text);
		grant select on tokenizers to authenticated`,
		"people", "tokenizers", "warning", "grant select (id, name) on table public.people to anon, authenticated",
	},
	{
		"sensitive_column", `
		create table vaults (id int, secret text);
		grant select on vaults to authenticated;
		alter table vaults enable row level security;
		create policy own on vaults for select using (id = 1);
		create table signs (id int, password text);
		grant select on signs to authenticated;
		alter table signs enable row level security;
		create policy everybody on signs for select using (true)`,
		"signs", "vaults", "warning", "revoke select on table public.signs from public, anon, authenticated",
	},
	{
		"policy_index", `
		create table letters (id int, owner uuid, writer uuid);
		create index on letters (writer);
		alter table letters enable row level security;
		create policy mine on letters using (owner = (select auth.uid()) or writer = (select auth.uid()))`,
		"letters", "notes", "info", "create index concurrently on public.letters (owner)",
	},
}

func TestEachRuleFindsWhatItIsAboutAndLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	var sql strings.Builder
	for _, test := range findingCases {
		sql.WriteString(test.sql + ";\n")
	}
	d := openDashboard(t, sql.String(), administrator.Editor)
	body := d.findings(t)
	for _, rule := range body.Rules {
		if !slices.ContainsFunc(findingCases, func(c struct{ rule, sql, bad, good, severity, fix string }) bool { return c.rule == rule.Rule }) {
			t.Errorf("%s has no test", rule.Rule)
		}
	}
	for _, test := range findingCases {
		t.Run(test.rule+" of "+test.bad, func(t *testing.T) {
			bad := found(body, test.rule, test.bad)
			if bad == nil {
				t.Fatalf("%s is not found", test.bad)
			}
			if bad.Severity != test.severity || !strings.Contains(strings.Join(bad.Fix, "; "), test.fix) {
				t.Errorf("%+v", *bad)
			}
			if good := found(body, test.rule, test.good); good != nil {
				t.Errorf("%s is found: %+v", test.good, *good)
			}
		})
	}
	t.Run("what mends a finding makes it go", func(t *testing.T) {
		for _, test := range findingCases {
			bad := found(body, test.rule, test.bad)
			if bad == nil {
				continue
			}
			fix := admin.DDLBody{Statements: bad.Fix, Summary: "mend", Concurrently: bad.Concurrently}
			if answer := d.call(t, "POST", "/ddl", fix); answer.Status != http.StatusOK {
				t.Errorf("%s of %s: %d %s", test.rule, test.bad, answer.Status, answer.Body)
			}
		}
		after := d.findings(t)
		for _, test := range findingCases {
			if still := found(after, test.rule, test.bad); still != nil {
				t.Errorf("still: %+v", *still)
			}
		}
	})
}

func TestTheServersOwnTablesAreNotFoundFaultWith(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Viewer)
	for _, finding := range d.findings(t).Findings {
		t.Errorf("%+v", finding)
	}
}
