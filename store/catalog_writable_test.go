package store_test

import (
	"strings"
	"testing"

	"basalt/store/storetest"
)

// TestColumnsCanBeWrittenWhereAWriteGetsThrough asks of views, by their kind, which columns a write may name.
func TestColumnsCanBeWrittenWhereAWriteGetsThrough(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `
		create schema second;
		create table base (id int primary key, name text, doubled int generated always as (id * 2) stored);
		create view passed as select id, name, upper(name) as loud from base;
		create view again as select id, loud from passed;
		create view joined as select a.id, b.name from base a join base b using (id);
		create view counted as select count(*) as n from base;
		create materialized view kept as select id from base;
		create function take() returns trigger language plpgsql as 'begin return new; end';
		create view triggered as select count(*) as n from base;
		create trigger t instead of insert on triggered for each row execute function take();
		create view only_deleted as select count(*) as n from base;
		create trigger t instead of delete on only_deleted for each row execute function take();
		create view ruled as select count(*) as n from base;
		create rule r as on update to ruled do instead nothing;
		create view ruled_at_times as select count(*) as n from base;
		create rule r as on update to ruled_at_times where old.n > 0 do instead nothing;
		create schema hidden;
		create view hidden.unexposed as select id from base;
		create view second.far as select id, 1 as one from base`)
	c := load(t, db.URL, richOptions)
	for relation, want := range map[string]string{
		"public.base":           "id name doubled",
		"public.passed":         "id name",
		"public.again":          "id",
		"public.joined":         "",
		"public.counted":        "",
		"public.kept":           "id",
		"public.triggered":      "n",
		"public.only_deleted":   "",
		"public.ruled":          "n",
		"public.ruled_at_times": "",
		"second.far":            "id",
	} {
		schema, name, _ := strings.Cut(relation, ".")
		var got []string
		for _, r := range c.Relations(schema) {
			for _, column := range r.Columns {
				if r.Name.Name == name && column.Writable {
					got = append(got, column.Name)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("of %s %q can be written, want %q", relation, got, want)
		}
	}
}
