package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

// depot has relations that are related in more ways than one.
const depot = `
create table address (id int primary key, street text);
create table parcel (id int primary key, "from" int constraint sender references address, dest int constraint receiver references address);
create table agency (id int primary key, head int);
create table agent (id int primary key, agency int constraint member references agency);
alter table agency add constraint headed foreign key (head) references agent;
create table site (id int primary key, main int constraint main_job references address);
create table job (site int constraint job_site references site, address int constraint job_address references address, primary key (site, address));
create view main_job_view as select site, address from job where site < 2;
create table stop (id int primary key, a1 int constraint a1 references address, s1 int constraint s1 references site);
create table link (l1 int constraint l1 references agency, l2 int constraint l2 references agency, r1 int constraint r1 references address, r2 int constraint r2 references address, primary key (l1, l2, r1, r2));
create table pal (id int primary key, name text);
create table follows (fan int references pal, idol int references pal, primary key (fan, idol));
create table left_one (id int primary key, r1 int unique, r2 int unique);
create table right_one (id int primary key, lefts text);
alter table left_one add constraint one1 foreign key (r1) references right_one, add constraint one2 foreign key (r2) references right_one;
create table realm (id int primary key, name text);
create table crown (id int primary key, name text, realm_id int unique references realm);
insert into realm values (1, 'Mercia'); insert into crown values (5, 'gold', 1);
create table qqqqq (id int primary key);
create table addresses_x (id int primary key);
create table shift (unit int, day date, primary key (unit, day));
create table duty (id int primary key, unit int, day date, u2 int, d2 date, constraint first_shift foreign key (unit, day) references shift, constraint second_shift foreign key (u2, d2) references shift);
create view twice as select id, dest as d1, dest as d2 from parcel;
create table "Upper Case" (id int primary key, "addressId" int constraint "Key With Blanks" references address);
insert into address values (1, 'Elm'), (2, 'Oak');
insert into parcel values (1, 1, 2);
insert into agency values (1, null); insert into agent values (1, 1); update agency set head = 1;
insert into site values (1, 2), (2, null);
insert into job values (1, 1), (2, 1), (2, 2);
insert into link values (1, 1, 1, 2);
insert into pal values (1, 'Al'), (2, 'Bo'), (3, 'Cy');
insert into follows values (2, 1), (3, 1), (1, 3);
insert into right_one values (1); insert into left_one values (1, 1, null);
insert into shift values (1, '2026-01-01'), (1, '2026-01-02');
insert into duty values (1, 1, '2026-01-01', 1, '2026-01-02');
insert into "Upper Case" values (1, 2);
` + open

func TestHintsChooseOneOfSeveralRelationships(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, depot, nil)
	run(t, s, []exchange{
		{name: "by the constraint", path: "parcel?select=id,address!receiver(street)", status: 200, want: `[{"id":1,"address":{"street":"Oak"}}]`},
		{name: "by the column", path: "parcel?select=id,address!dest(street)", status: 200, want: `[{"id":1,"address":{"street":"Oak"}}]`},
		{name: "by a column that is a reserved word", path: `parcel?select=id,address!from(street),x:address!"dest"(street)`, status: 200, want: `[{"id":1,"address":{"street":"Elm"},"x":{"street":"Oak"}}]`},
		{name: "the constraint in place of the name", path: "parcel?select=id,sender(street),receiver(street)", status: 200, want: `[{"id":1,"sender":{"street":"Elm"},"receiver":{"street":"Oak"}}]`},
		{name: "the column in place of the name", path: "parcel?select=id,from(street),dest(street)", status: 200, want: `[{"id":1,"from":{"street":"Elm"},"dest":{"street":"Oak"}}]`},
		{name: "the column shown beside its embed", path: "parcel?select=id,dest,to:dest(street)", status: 200, want: `[{"id":1,"dest":2,"to":{"street":"Oak"}}]`},
		{name: "the filter of a column that an embed is called by", path: "parcel?select=id,dest(street)&dest=eq.2", status: 200, want: `[{"id":1,"dest":{"street":"Oak"}}]`},
		{name: "from the other side, by the constraint", path: "address?select=street,parcel!receiver(id)&order=id", status: 200, want: `[{"street":"Elm","parcel":[]},{"street":"Oak","parcel":[{"id":1}]}]`},
		{name: "from the other side, by the column", path: "address?select=street,parcel!from(id)&order=id", status: 200, want: `[{"street":"Elm","parcel":[{"id":1}]},{"street":"Oak","parcel":[]}]`},
		{name: "from the other side, the constraint in place of the name", path: "site?select=id,job_site(address)&order=id&job_site.order=address", status: 200, want: `[{"id":1,"job_site":[{"address":1}]},{"id":2,"job_site":[{"address":1},{"address":2}]}]`},
		{name: "one of two circles", path: "agency?select=id,agent!headed(id)", status: 200, want: `[{"id":1,"agent":{"id":1}}]`},
		{name: "the other of two circles", path: "agency?select=id,agent!member(id)", status: 200, want: `[{"id":1,"agent":[{"id":1}]}]`},
		{name: "by the junction", path: "site?select=id,address!job(street)&order=id&address.order=id", status: 200,
			want: `[{"id":1,"address":[{"street":"Elm"}]},{"id":2,"address":[{"street":"Elm"},{"street":"Oak"}]}]`},
		{name: "by a view of the junction", path: "site?select=id,address!main_job_view(street)&order=id", status: 200, want: `[{"id":1,"address":[{"street":"Elm"}]},{"id":2,"address":[]}]`},
		{name: "the key instead of the junction", path: "site?select=id,address!main_job(street)&order=id", status: 200, want: `[{"id":1,"address":{"street":"Oak"}},{"id":2,"address":null}]`},
		{name: "a junction of four keys, by spreads", path: "agency?select=id,link!l1(...address!r2(street))", status: 200, want: `[{"id":1,"link":[{"street":"Oak"}]}]`},
		{name: "a junction of a relation with itself, by spreads", path: "pal?select=name,fans:follows!idol(...pal!fan(name))&id=eq.1&fans.order=fan", status: 200, want: `[{"name":"Al","fans":[{"name":"Bo"},{"name":"Cy"}]}]`},
		{name: "a junction of a relation with itself, by the constraint towards the target", path: "pal?select=name,fans:pal!follows_fan_fkey(name)&id=eq.1&fans.order=id", status: 200, want: `[{"name":"Al","fans":[{"name":"Bo"},{"name":"Cy"}]}]`},
		{name: "one of two that are one to one", path: "left_one?select=id,right_one!one1(id)", status: 200, want: `[{"id":1,"right_one":{"id":1}}]`},
		{name: "one to one by either column", path: "realm?select=a:crown!id(name),b:crown!realm_id(name)", status: 200, want: `[{"a":{"name":"gold"},"b":{"name":"gold"}}]`},
		{name: "one to one by either column from the other side", path: "crown?select=a:realm!id(name),b:realm!realm_id(name)", status: 200, want: `[{"a":{"name":"Mercia"},"b":{"name":"Mercia"}}]`},
		{name: "one to one by the constraint in place of the name", path: "realm?select=crown_realm_id_fkey(name)", status: 200, want: `[{"crown_realm_id_fkey":{"name":"gold"}}]`},
		{name: "the column that is referred to in place of the name", path: "realm?select=name,id(name)", status: 200, want: `[{"name":"Mercia","id":{"name":"gold"}}]`},
		{name: "a key of two columns in place of the name", path: "duty?select=id,first_shift(day),second_shift(day)", status: 200, want: `[{"id":1,"first_shift":{"day":"2026-01-01"},"second_shift":{"day":"2026-01-02"}}]`},
		{name: "a column that a view shows twice", path: "twice?select=id,address!d2(street)", status: 200, want: `[{"id":1,"address":{"street":"Oak"}}]`},
		{name: "names that need quotes", path: `Upper%20Case?select=id,addressId(street),k:address!"Key With Blanks"(street)`, status: 200, want: `[{"id":1,"addressId":{"street":"Oak"},"k":{"street":"Oak"}}]`},
		{name: "names with blanks without quotes", path: `address?select=street,Upper Case(id)&id=eq.2`, status: 200, want: `[{"street":"Oak","Upper Case":[{"id":1}]}]`},
	})
}

// ambiguity is the body of PGRST201.
func ambiguity(from, to, ways, details string) string {
	return `{"code":"PGRST201","details":[` + details + `],"hint":"Try changing '` + to + `' to one of the following: ` + ways +
		`. Find the desired relationship in the 'details' key.","message":"Could not embed because more than one relationship was found for '` + from + `' and '` + to + `'"}`
}

func TestAmbiguousEmbedsListTheirChoices(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, depot, nil)
	way := func(cardinality, embedding, relationship string) string {
		return `{"cardinality":"` + cardinality + `","embedding":"` + embedding + `","relationship":"` + relationship + `"}`
	}
	run(t, s, []exchange{
		{name: "two keys to one relation", path: "parcel?select=address(*)", status: 300, want: ambiguity("parcel", "address", "'address!receiver', 'address!sender'",
			way("many-to-one", "parcel with address", "receiver using parcel(dest) and address(id)")+","+way("many-to-one", "parcel with address", "sender using parcel(from) and address(id)"))},
		{name: "a circle", path: "agency?select=agent(*)", status: 300, want: ambiguity("agency", "agent", "'agent!member', 'agent!headed'",
			way("one-to-many", "agency with agent", "member using agency(id) and agent(agency)")+","+way("many-to-one", "agency with agent", "headed using agency(head) and agent(id)"))},
		{name: "a key, a junction and its view", path: "site?select=address(*)", status: 300, want: ambiguity("site", "address", "'address!main_job', 'address!job', 'address!main_job_view'",
			way("many-to-one", "site with address", "main_job using site(main) and address(id)")+","+
				way("many-to-many", "site with address", "job using job_site(site) and job_address(address)")+","+
				way("many-to-many", "site with address", "main_job_view using job_site(site) and job_address(address)"))},
		{name: "two that are one to one", path: "left_one?select=right_one(*)", status: 300, want: ambiguity("left_one", "right_one", "'right_one!one1', 'right_one!one2'",
			way("one-to-one", "left_one with right_one", "one1 using left_one(r1) and right_one(id)")+","+way("one-to-one", "left_one with right_one", "one2 using left_one(r2) and right_one(id)"))},
		{name: "a junction of four keys", path: "agency?select=address(*)", status: 300, want: ambiguity("agency", "address", "'address!link', 'address!link', 'address!link', 'address!link'",
			way("many-to-many", "agency with address", "link using l1(l1) and r1(r1)")+","+way("many-to-many", "agency with address", "link using l1(l1) and r2(r2)")+","+
				way("many-to-many", "agency with address", "link using l2(l2) and r1(r1)")+","+way("many-to-many", "agency with address", "link using l2(l2) and r2(r2)"))},
		{name: "a column that a view shows twice", path: "twice?select=address(*)", status: 300, want: ambiguity("twice", "address", "'address!receiver', 'address!receiver'",
			way("many-to-one", "twice with address", "receiver using twice(d1) and address(id)")+","+way("many-to-one", "twice with address", "receiver using twice(d2) and address(id)"))},
		{name: "two keys of two columns", path: "duty?select=shift(*)", status: 300, want: ambiguity("duty", "shift", "'shift!first_shift', 'shift!second_shift'",
			way("many-to-one", "duty with shift", "first_shift using duty(unit, day) and shift(unit, day)")+","+way("many-to-one", "duty with shift", "second_shift using duty(u2, d2) and shift(unit, day)"))},
		{name: "in an embed", path: "stop?select=site:s1(address(*))", status: 300, has: []string{"PGRST201", "'site' and 'address'"}},
	})
}

func TestEmbedsThatAreNotFound(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, depot+`create schema hidden; create table hidden.secret (id int primary key, site int references public.site);
		create table ends (id int primary key); create table hidden.joint (a int references public.ends, b int references public.address, primary key (a, b));`, nil)
	missing := func(from, to, hinted, hint string) string {
		details := "Searched for a foreign key relationship between '" + from + "' and '" + to + "'"
		if hinted != "" {
			details += " using the hint '" + hinted + "'"
		}
		return refusal("PGRST200", "Could not find a relationship between '"+from+"' and '"+to+"' in the schema cache", details+" in the schema 'public', but no matches were found.", hint)
	}
	run(t, s, []exchange{
		{name: "no relationship", path: "parcel?select=id,pal(*)", status: 400, want: missing("parcel", "pal", "", "")},
		{name: "a near name", path: "parcel?select=id,adress(*)", status: 400, want: missing("parcel", "adress", "", "Perhaps you meant 'address' instead of 'adress'.")},
		{name: "a hint that fits nothing", path: "parcel?select=id,address!nope(*)", status: 400, want: missing("parcel", "address", "nope", "")},
		{name: "a relation without any relationship", path: "qqqqq?select=id,address(*)", status: 400, want: missing("qqqqq", "address", "", "")},
		{name: "a relation whose name is near to one that has some", path: "addresses_x?select=id,parcel(*)", status: 400, want: missing("addresses_x", "parcel", "", "Perhaps you meant 'address' instead of 'addresses_x'.")},
		{name: "a relation of a hidden schema", path: "site?select=id,secret(*)", status: 400, has: []string{"PGRST200", "'site' and 'secret'"}},
		{name: "a junction of a hidden schema", path: "ends?select=id,address(*)", status: 400, has: []string{"PGRST200"}},
		{name: "a column that is no key", path: "address?select=street(*)", status: 400, has: []string{"PGRST200", "'address' and 'street'"}},
		{name: "the columns of a key of two do not stand for it", path: "duty?select=unit(*)", status: 400, has: []string{"PGRST200"}},
		{name: "in an embed", path: "stop?select=id,s1(id,pal(*))", status: 400, want: missing("site", "pal", "", "")},
	})
}
