package store_test

import (
	"testing"

	"basalt/query/catalog"
	"basalt/store/storetest"
)

// catalogOn loads the catalog of a schema that PostgreSQL knows since a version, and skips on an older one.
func catalogOn(t *testing.T, version int, schema string) *catalog.Catalog {
	t.Helper()
	db := storetest.NewEmpty(t)
	if running := queryInt(t, db, `select current_setting('server_version_num')::int`); running < version*10000 {
		t.Skipf("PostgreSQL %d has nothing of that", running/10000)
	}
	db.Exec(t, schema)
	return load(t, db.URL, richOptions)
}

func describeColumns(r *catalog.Relation) (list []string) {
	for _, column := range r.Columns {
		list = append(list, describeColumn(column))
	}
	return list
}

func TestCatalogOfPostgreSQL15(t *testing.T) {
	t.Parallel()
	c := catalogOn(t, 15, `
		create table items (id int primary key, code text, unique nulls not distinct (code));
		create view seen with (security_invoker = true) as select id, code from items;
		create table parts (code text references items (code))`)
	items, seen := c.Relation(public("items")), c.Relation(public("seen"))
	if len(items.Uniques) != 1 || columnNames(items.Uniques[0]) != "code" {
		t.Errorf("a key that takes nulls as equal: %+v", items.Uniques)
	}
	if columnNames(seen.PrimaryKey) != "id" || !seen.Insertable {
		t.Errorf("a view with the rights of its reader: key %s, insertable %t", columnNames(seen.PrimaryKey), seen.Insertable)
	}
	compare(t, describeRelationships(c, public("parts"), "seen"), []string{"many-to-one parts_code_fkey code=code"})
}

func TestCatalogOfPostgreSQL18(t *testing.T) {
	t.Parallel()
	c := catalogOn(t, 18, `
		create table prices (
			id int primary key,
			net numeric not null,
			gross numeric generated always as (net * 1.2) virtual,
			stored numeric generated always as (net * 1.2) stored,
			note text constraint noted not null,
			later int references prices not enforced
		);
		alter table prices add constraint net_again not null later not valid;
		create table bookings (
			room int4range,
			during daterange,
			primary key (room, during without overlaps),
			unique (during, room without overlaps)
		);
		create table guests (
			id int primary key,
			room int4range,
			during daterange,
			foreign key (room, period during) references bookings
		)`)
	compare(t, describeColumns(c.Relation(public("prices"))), []string{
		"id integer not null",
		"net numeric not null",
		"gross numeric generated",
		"stored numeric generated",
		"note text not null",
		"later integer not null",
	})
	compare(t, describeRelationships(c, public("prices"), "prices"), []string{
		"many-to-one self prices_later_fkey later=id",
		"one-to-many self inverse prices_later_fkey id=later",
	})
	if bookings := c.Relation(public("bookings")); columnNames(bookings.PrimaryKey) != "room during" {
		t.Errorf("primary key without overlaps: %s", columnNames(bookings.PrimaryKey))
	}
	// Met by rows that together cover the time: no equality would find them.
	compare(t, describeRelationships(c, public("guests"), "bookings"), nil)
}
