package rest_test

import (
	"strings"
	"testing"

	"basalt/api/apitest"
)

const places = `
create extension postgis schema extensions;
create table shop (id int primary key, address text, place extensions.geometry(Point, 4326), area extensions.geometry(Polygon, 4326));
insert into shop (id, address, place) values
  (1, 'a "quoted" one', 'SRID=4326;POINT(-71.10044 42.373695)'),
  (2, null, 'SRID=4326;POINT(-71.10543 42.366432)'),
  (3, 'nowhere', null);
create table beacon (id int primary key, shop int references shop, spot extensions.geometry(Point, 4326));
insert into beacon values (1, 1, 'SRID=4326;POINT(1 2)'), (2, 1, null);
create table plain (id int primary key);
insert into plain values (1);
create table guarded (id int primary key, owner text, place extensions.geometry(Point, 4326));
insert into guarded values (1, 'anon', 'SRID=4326;POINT(1 1)'), (2, 'other', 'SRID=4326;POINT(2 2)');
alter table guarded enable row level security;
create policy own on guarded using (owner = current_user);
create function shops(since int) returns setof shop language sql stable as 'select * from shop where id >= since order by id';
create function shop_of(i int) returns shop language sql stable as 'select * from shop where id = i';
create function spot() returns extensions.geometry language sql stable as $$ select 'SRID=4326;POINT(5 6)'::extensions.geometry $$;
` + open

// feature is a GeoJSON feature as PostGIS writes it.
func feature(point, properties string) string {
	return `{"type": "Feature", "geometry": {"type":"Point","coordinates":[` + point + `]}, "properties": {` + properties + `}}`
}

func collection(features ...string) string {
	return `{"type" : "FeatureCollection", "features" : [` + strings.Join(features, ",\n ") + `]}`
}

func TestRowsWithAGeometryAreGeoJSONFeatures(t *testing.T) {
	t.Parallel()
	without := apitest.Start(t, `create table plain (id int primary key);`+open, nil)
	run(t, without, []exchange{
		{name: "without PostGIS there is no GeoJSON", path: "plain", headers: []string{"Accept: application/geo+json"}, status: 406,
			want: refusal("PGRST107", "None of these media types are available: application/geo+json", "", "")},
		{name: "and what comes next is given", path: "plain", headers: []string{"Accept: application/geo+json, */*;q=0.5"}, status: 200, want: "[]"},
	})
	var there bool
	if err := without.Database.Pool.QueryRow(t.Context(), `select exists (select from pg_available_extensions where name = 'postgis')`).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if !there {
		t.Skip("this PostgreSQL has no PostGIS (Debian: postgresql-15-postgis-3)")
	}
	s := apitest.Start(t, places, nil)
	geo := []string{"Accept: application/geo+json"}
	kind := []string{"Content-Type: application/geo+json; charset=utf-8"}
	writing := []string{give, "Accept: application/geo+json"}
	first := feature("-71.10044,42.373695", `"id": 1, "address": "a \"quoted\" one"`)
	run(t, s, []exchange{
		{name: "a table", path: "shop?select=id,address,place&order=id&id=lte.2", headers: geo, status: 200,
			want: collection(first, feature("-71.10543,42.366432", `"id": 2, "address": null`)), header: append(kind, "Content-Range: 0-1/*")},
		{name: "a row without a geometry", path: "shop?select=id,place&id=eq.3", headers: geo, status: 200, has: []string{`"properties": {"id": 3}`, "null"}},
		{name: "no rows", path: "shop?id=eq.9", headers: geo, status: 200, want: collection(), header: append(kind, "Content-Range: */*")},
		{name: "every column", path: "shop?id=eq.1", headers: geo, status: 200,
			want: collection(feature("-71.10044,42.373695", `"id": 1, "address": "a \"quoted\" one", "area": null`))},
		{name: "the first geometry selected", path: "shop?select=area,place,id&id=eq.1", headers: geo, status: 200, has: []string{`"properties": {"place": {"type":"Point"`, `"coordinates":[-71.10044,42.373695]`}},
		{name: "under an alias", path: "shop?select=nr:id,where:place&id=eq.1", headers: geo, status: 200, want: collection(feature("-71.10044,42.373695", `"nr": 1`))},
		{name: "under names that need quotes", path: `shop?select="we\"ird, one":id,"select":address,place&id=eq.2`, headers: geo, status: 200,
			want: collection(feature("-71.10543,42.366432", `"we\"ird, one": 2, "select": null`))},
		{name: "a window with a count", path: "shop?select=id,place&order=id&limit=1&offset=1", headers: append(geo, "Prefer: count=exact"), status: 206,
			want: collection(feature("-71.10543,42.366432", `"id": 2`)), header: []string{"Content-Range: 1-1/3"}},
		{name: "an embed", path: "shop?select=id,place,beacon(id)&id=eq.1&beacon.order=id", headers: geo, status: 200,
			want: collection(feature("-71.10044,42.373695", `"id": 1, "beacon": [{"id":1}, {"id":2}]`))},
		{name: "an embed with a geometry", path: "beacon?select=id,spot,shop(place)&id=eq.1", headers: geo, status: 200,
			has: []string{`"geometry": {"type":"Point","coordinates":[1,2]}`, `"shop": {"place":{"type":"Point"`}},
		{name: "only a geometry will do", path: "plain", headers: geo, status: 400, has: []string{`"22023"`, "geometry column is missing"}, header: []string{"Content-Type: application/json; charset=utf-8"}},
		{name: "HEAD", method: "HEAD", path: "shop?id=eq.1", headers: geo, status: 200, header: kind},
		{name: "policies hold", path: "guarded?select=id,place", headers: geo, status: 200, want: collection(feature("1,1", `"id": 1`))},
		{name: "rows of a function", path: "rpc/shops?since=2&select=id,place&limit=1", headers: append(geo, "Prefer: count=exact"), status: 206,
			want: collection(feature("-71.10543,42.366432", `"id": 2`)), header: []string{"Content-Range: 0-0/2"}},
		{name: "a page of a function", path: "rpc/shops?since=1&select=id,place&limit=1&offset=1", headers: append(geo, "Prefer: count=exact"), status: 206,
			want: collection(feature("-71.10543,42.366432", `"id": 2`)), header: []string{"Content-Range: 1-1/3"}},
		{name: "a page behind the last of a function", path: "rpc/shops?since=1&offset=3", headers: append(geo, "Prefer: count=exact"), status: 206, want: collection(), header: []string{"Content-Range: */3"}},
		{name: "one row of a function", path: "rpc/shop_of?i=1&select=id,place", headers: geo, status: 200, want: collection(feature("-71.10044,42.373695", `"id": 1`))},
		{name: "a geometry of a function", path: "rpc/spot", headers: geo, status: 200, want: collection(feature("5,6", ""))},
		{name: "the geometry in plain JSON", path: "shop?select=place&id=eq.1", status: 200, has: []string{`{"place":{"type":"Point"`, `[-71.10044,42.373695]`}},
		{name: "a row written", method: "POST", path: "shop?select=id,place", headers: writing, body: `{"id":4,"place":"SRID=4326;POINT(1 2)"}`, status: 201, want: collection(feature("1,2", `"id": 4`)), header: kind},
		{name: "a row upserted", method: "POST", path: "shop?select=id,place", headers: []string{"Prefer: return=representation, resolution=merge-duplicates", geo[0]},
			body: `{"id":4,"place":"SRID=4326;POINT(3 4)"}`, status: 200, want: collection(feature("3,4", `"id": 4`))},
		{name: "a row changed", method: "PATCH", path: "shop?select=id,address,place&id=eq.4", headers: writing, body: `{"address":"x"}`, status: 200, want: collection(feature("3,4", `"id": 4, "address": "x"`))},
		{name: "nothing written", method: "POST", path: "shop", headers: writing, body: `[]`, status: 201, want: collection()},
		{name: "rows deleted", method: "DELETE", path: "shop?select=id,place&id=eq.4", headers: writing, status: 200, want: collection(feature("3,4", `"id": 4`))},
	})
}
