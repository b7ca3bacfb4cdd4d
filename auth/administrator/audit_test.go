package administrator_test

import (
	"strings"
	"testing"
	"time"

	"basalt/auth/administrator"
	"basalt/store/storetest"
)

func TestWhatIsHardToWriteIsWrittenInTheAuditLog(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s := service(db, administrator.Options{})
	for name, test := range map[string]struct {
		change        administrator.Change
		before, after string
	}{
		"nothing":                    {administrator.Change{}, "", ""},
		"a NUL":                      {administrator.Change{After: "a\x00b"}, "", `"a�b"`},
		"a text that looks like one": {administrator.Change{After: `\u0000`}, "", `"\\u0000"`},
		"too much":                   {administrator.Change{Before: strings.Repeat("a", 1<<20)}, `{"too_large": 1048578}`, ""},
		"a long target":              {administrator.Change{Target: strings.Repeat("é", 1<<20)}, "", ""},
		"a target that is no text":   {administrator.Change{Target: "a\x00\xffb"}, "", ""},
	} {
		test.change.Action = "test"
		if err := administrator.Record(t.Context(), db.Pool, administrator.Shell(), test.change); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list, err := s.Audit(t.Context(), administrator.AuditFilter{Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d entries, %v", len(list), err)
		}
		if e := list[0]; string(e.Before) != test.before || string(e.After) != test.after || len(e.Target) > 1<<10 {
			t.Errorf("%s: %s, %s, %d bytes of target", name, e.Before, e.After, len(e.Target))
		}
	}
}

func TestOldEntriesOfTheAuditLogGo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		retention time.Duration
		left      int
	}{
		"after an hour": {time.Hour, 2},
		"never":         {0, 2502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.New(t)
			db.Exec(t, `
insert into basalt.administrator_audit (at, email, action, target)
select now() - interval '1 hour' - n * interval '1 second', 'ada@example.com', 'test', 'old'
from generate_series(1, 2500) n`)
			db.Exec(t, `
insert into basalt.administrator_audit (at, email, action, target)
values (now() - interval '59 minutes', 'ada@example.com', 'test', 'young'), (now(), 'ada@example.com', 'test', 'new')`)
			service(db, administrator.Options{AuditRetention: test.retention}).PruneAudit(t.Context())
			var left int
			if err := db.Pool.QueryRow(t.Context(), `select count(*) from basalt.administrator_audit`).Scan(&left); err != nil || left != test.left {
				t.Errorf("%d entries, %v", left, err)
			}
		})
	}
}
