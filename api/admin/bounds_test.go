package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

func TestAChangeThatIsOnlyTriedCannotCommitItself(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	for _, statement := range []string{"commit\n", "/* x */ commit", "commit/**/", "COMMIT--\n", "end/**/work", "prepare/**/transaction 'x'", "rollback/**/and chain"} {
		answer := d.call(t, "POST", "/policies/check", map[string]any{"statements": []string{"create table stays ()", statement}})
		if answer.Status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", statement, answer.Status, answer.Body)
		}
	}
	d.Database.Exec(t, `do $$ begin assert to_regclass('public.stays') is null; end $$`)
}

func TestAPageOfAFunctionRunsNoScriptsInTheDashboardsOrigin(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create domain "text/html" as text; create function page() returns "text/html" language sql stable as $$ select '<script>1</script>' $$`, administrator.Editor)
	answer := d.call(t, "GET", "/rest/rpc/page", nil, "Accept: text/html")
	if policy := answer.Header.Get("Content-Security-Policy"); answer.Status != http.StatusOK || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("%d %q %s", answer.Status, policy, answer.Body)
	}
}

func TestRefusalsOfAnImportAreShortWhateverTheValues(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table numbers (n int)`, administrator.Editor)
	lines, _ := d.imported(t, "public/numbers", "format=csv", "text/csv", "n\n"+strings.Repeat("x", 1<<20)+"\n")
	// Progress is told before it when the machine is busy.
	at := slices.IndexFunc(lines, func(line admin.ImportLine) bool { return line.Refused != nil })
	if at < 0 || len(lines[at].Refused.Reason) > 2<<10 {
		t.Errorf("line %d of %.3000v", at, lines)
	}
}

func TestRowsThatAreTooMuchToHoldAreNotChanged(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table wide (id int primary key, n int, filler text);
		alter table wide alter filler set storage extended;
		insert into wide select i, 0, repeat('x', 12000000) from generate_series(1, 6) i`, administrator.Editor)
	var changes []admin.RowChange
	for i := range 6 {
		id := fmt.Sprint(i + 1)
		changes = append(changes, admin.RowChange{Op: "update", Key: values("id", id), Set: values("n", "1")})
	}
	_, answer := d.rows(t, http.StatusRequestEntityTooLarge, "public/wide", changes)
	if !strings.Contains(answer.Body, "64 MiB") {
		t.Errorf("%.300s", answer.Body)
	}
	d.Database.Exec(t, `do $$ begin assert not exists (select from wide where n = 1); end $$`)
}
