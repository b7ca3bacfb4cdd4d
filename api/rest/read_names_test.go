package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const babel = `
create table "موارد" (id int primary key, "اسم" text);
create table "Escap3e;" ("so6meIdColumn" int primary key);
create table "ghostBusters" ("escapeId" int primary key references "Escap3e;");
create table "Ware House" (id int primary key, "Shelf No. 1" text, "a,b" text, "(c)" text, "d:e" text, "f->g" text, "h::i" text, "  j  " text, "k""l" text, "m\n" text, "*" text, "100%" text, "a.b" text, "dash-ed" text);
create table "select" ("from" int primary key, "where" text, "group" int references "select", "table" jsonb, "user" text);
create table do$llar$s (a$num$ int primary key); insert into do$llar$s values (100);
create table words (id int primary key, w text, "null" text, "true" text, "in" int);
create table "and/or" ("a/b" int primary key); insert into "and/or" values (1);
create function "in/out"("n/m" int) returns int language sql as 'select "n/m"';
create table "日本" ("列" int primary key, "絵" text);
insert into "موارد" values (1, 'نص'), (2, 'متن');
insert into "Escap3e;" values (1), (2); insert into "ghostBusters" values (1);
insert into "Ware House" values (1, 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen');
insert into "select" values (1, 'here', null, '{"order":1}', 'me'), (2, 'there', 1, null, 'you');
insert into words values (1, 'Hebdon, John', 'n', 't', 5), (2, 'Double"Quote"McGraw"', null, 'f', 6), (3, '\', null, null, 7), (4, '/\Slash/\Beast/\', null, null, 8), (5, 'Plain', null, null, 9), (6, '"', null, null, 10),
  (7, 'a+b & c=d;e#f', null, null, 11), (8, '😀 é', null, null, 12), (9, '', null, null, 13), (10, 'a%2Cb', null, null, 14), (11, '{x,y}', null, null, 15), (12, ' padded ', null, null, 16);
insert into "日本" values (1, '富士');
` + open

func TestNamesInEveryScriptAndSpelling(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, babel, nil)
	run(t, s, []exchange{
		{name: "names and values from right to left", path: "موارد?select=اسم&اسم=eq.نص", status: 200, want: `[{"اسم":"نص"}]`},
		{name: "percent-encoded", path: "%D9%85%D9%88%D8%A7%D8%B1%D8%AF?select=id&%D8%A7%D8%B3%D9%85=eq.%D9%85%D8%AA%D9%86", status: 200, want: `[{"id":2}]`},
		{name: "names without letters of the alphabet", path: "日本?select=絵&列=eq.1&order=絵", status: 200, want: `[{"絵":"富士"}]`},
		{name: "in quotes", path: `日本?select="絵"&"列"=eq.1`, status: 200, want: `[{"絵":"富士"}]`},
		{name: "a semicolon in a path", path: "Escap3e%3B?order=so6meIdColumn", status: 200, want: `[{"so6meIdColumn":1},{"so6meIdColumn":2}]`},
		{name: "upper case", path: "ghostBusters?escapeId=gt.0", status: 200, want: `[{"escapeId":1}]`},
		{name: "the wrong case", path: "ghostbusters", status: 404, has: []string{"PGRST205", "Perhaps you meant the table 'public.ghostBusters'"}},
		{name: "an embed of such names", path: "Escap3e%3B?select=ghostBusters(*)&order=so6meIdColumn", status: 200, want: `[{"ghostBusters":{"escapeId":1}},{"ghostBusters":null}]`},
		{name: "an embed by a column in upper case", path: "ghostBusters?select=escapeId(*)", status: 200, want: `[{"escapeId":{"so6meIdColumn":1}}]`},
		{name: "an embed of a name with a semicolon in quotes", path: `ghostBusters?select="Escap3e%3B"(so6meIdColumn)`, status: 200, want: `[{"Escap3e;":{"so6meIdColumn":1}}]`},
		{name: "blanks", path: `Ware%20House?select="Shelf No. 1"&"Shelf No. 1"=eq.one`, status: 200, want: `[{"Shelf No. 1":"one"}]`},
		{name: "commas, parentheses and colons", path: `Ware%20House?select="a,b","(c)","d:e"&"a,b"=eq.two&"(c)"=eq.three&"d:e"=eq.four`, status: 200, want: `[{"a,b":"two","(c)":"three","d:e":"four"}]`},
		{name: "arrows and casts", path: `Ware%20House?select="f->g","h::i"&"f->g"=eq.five&order="h::i"`, status: 200, want: `[{"f->g":"five","h::i":"six"}]`},
		{name: "blanks at the ends count in quotes", path: `Ware%20House?select="  j  "&"  j  "=eq.seven`, status: 200, want: `[{"  j  ":"seven"}]`},
		{name: "quotes in quotes", path: `Ware%20House?select="k\"l"&"k\"l"=eq.eight`, status: 200, want: `[{"k\"l":"eight"}]`},
		{name: "backslashes in quotes", path: `Ware%20House?select="m\\n"&"m\\n"=eq.nine`, status: 200, want: `[{"m\\n":"nine"}]`},
		{name: "a star in quotes is a column", path: `Ware%20House?select="*"&"*"=eq.ten`, status: 200, want: `[{"*":"ten"}]`},
		{name: "a percent sign", path: `Ware%20House?select="100%25"`, status: 200, want: `[{"100%":"eleven"}]`},
		{name: "a dot", path: `Ware%20House?select="a.b"&"a.b"=eq.twelve`, status: 200, want: `[{"a.b":"twelve"}]`},
		{name: "dollars need no quotes", path: "do$llar$s?select=a$num$&a$num$=eq.100&order=a$num$", status: 200, want: `[{"a$num$":100}]`},
		{name: "a dash needs no quotes", path: `Ware%20House?select=dash-ed,x:dash-ed::text&dash-ed=eq.thirteen&order=dash-ed`, status: 200, want: `[{"dash-ed":"thirteen","x":"thirteen"}]`},
		{name: "names in quotes within groups", path: `Ware%20House?select=id&or=("a,b".eq.two,"f->g".eq.zero)`, status: 200, want: `[{"id":1}]`},
		{name: "words reserved by SQL", path: "select?select=from,where,group,user&from=eq.1&where=like.h*&order=group,user", status: 200, want: `[{"from":1,"where":"here","group":null,"user":"me"}]`},
		{name: "an embed of such words", path: "select?select=from,up:group(where),down:select!group(from)&from=eq.1", status: 200, want: `[{"from":1,"up":null,"down":[{"from":2}]}]`},
		{name: "a path below such a word", path: "select?select=table->order&table->>order=eq.1", status: 200, want: `[{"order":1}]`},
		{name: "columns named like values", path: "words?select=null,true,in&in=in.(5)&null=eq.n&true=not.is.null", status: 200, want: `[{"null":"n","true":"t","in":5}]`},
		{name: "aliases of any characters", path: `words?id=eq.5&select="a b":id,"c\"d":id,"SELECT":id,"é😀":id,"x'y":id,"e\\f":id`, status: 200,
			want: `[{"a b":5,"c\"d":5,"SELECT":5,"é😀":5,"x'y":5,"e\\f":5}]`},
		{name: "slashes", path: `and%2For?select="a/b"`, status: 200, want: `[{"a/b":1}]`, header: []string{"Content-Location: /and%2For?select=%22a%2Fb%22"}},
		{name: "slashes of what is written", method: "POST", path: "and%2for", headers: []string{"Prefer: return=headers-only"}, body: `{"a/b":2}`, status: 201, want: "", header: []string{"Location: /and%2For?a%2Fb=eq.2"}},
		{name: "slashes of a function", path: "rpc/in%2Fout?n/m=3", status: 200, want: "3"},
		{name: "slashes that are no part of a name", path: "and/or", status: 404, has: []string{"PGRST125"}},
		{name: "an empty name", path: `words?select=""`, status: 400, has: []string{"PGRST100"}},
		{name: "a quote that stays open", path: `words?select="id`, status: 400, has: []string{"PGRST100"}},
		{name: "bytes that are no text", path: "words?w=eq.%ff", status: 400, has: []string{"PGRST100"}},
		{name: "a NUL", path: "words?w=eq.%00", status: 400, has: []string{"PGRST100"}},
	})
}

func TestValuesKeepEveryCharacter(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, babel, nil)
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "words?select=id&order=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		ids("quoted elements", `w=in.("Hebdon, John")`, `[{"id":1}]`),
		ids("quoted and bare ones", `w=in.("Hebdon, John",Plain)`, `[{"id":1},{"id":5}]`),
		ids("escaped quotes", `w=in.("Double\"Quote\"McGraw\"")`, `[{"id":2}]`),
		ids("bare quotes", `w=in.(Double"Quote"McGraw")`, `[{"id":2}]`),
		ids("a single quote sign", `w=in.(")`, `[{"id":6}]`),
		ids("escaped backslashes", `w=in.("\\","/\\Slash/\\Beast/\\")`, `[{"id":3},{"id":4}]`),
		ids("bare backslashes", `w=in.(\,/\Slash/\Beast/\)`, `[{"id":3},{"id":4}]`),
		ids("any escaped character is itself", `w=in.("P\l\ain")`, `[{"id":5}]`),
		ids("not in", `w=not.in.("Hebdon, John",Plain)&id=lte.5`, `[{"id":2},{"id":3},{"id":4}]`),
		ids("encoded separators separate", `w=in.(Plain%2C%22Hebdon%2C%20John%22)`, `[{"id":1},{"id":5}]`),
		ids("an encoded percent sign does not", `w=eq.a%252Cb`, `[{"id":10}]`),
		ids("signs of URLs", `w=eq.a%2Bb%20%26%20c%3Dd%3Be%23f`, `[{"id":7}]`),
		ids("a plus is a blank", `w=eq.Hebdon,+John`, `[{"id":1}]`),
		ids("an equals sign in a value", `w=like.*c=d*`, `[{"id":7}]`),
		ids("beyond the basic plane", `w=eq.😀 é`, `[{"id":8}]`),
		ids("no characters at all", `w=eq.`, `[{"id":9}]`),
		ids("no characters in a list", `w=in.("")`, `[{"id":9}]`),
		ids("no characters among others", `w=in.(Plain,)`, `[{"id":5},{"id":9}]`),
		ids("braces", `w=eq.{x,y}`, `[{"id":11}]`),
		ids("braces in a group are an array", `or=(w.eq.{x,y},id.eq.5)`, `[{"id":5},{"id":11}]`),
		ids("blanks at the ends of a value", `w=eq. padded `, `[{"id":12}]`),
		ids("and of a quoted one in a group", `or=(w.eq." padded ",id.eq.5)`, `[{"id":5},{"id":12}]`),
		ids("a quoted value with a quote in a group", `or=(w.eq."Double\"Quote\"McGraw\"",w.eq."\\")`, `[{"id":2},{"id":3}]`),
		ids("dots and colons in a bare value of a group", `or=(w.neq.a.b:c,id.eq.5)&id=eq.5`, `[{"id":5}]`),
	})
}

func TestRelationsAreReadAsTheirRightsAllow(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table staff (id int primary key, name text, pay int, gone int, boss int references staff);
alter table staff drop column gone;
insert into staff values (1, 'Al', 10, null), (2, 'Bo', 20, 1);
create table vehicle (id int primary key, wheels int); create table car (doors int) inherits (vehicle);
insert into vehicle values (1, 2); insert into car values (2, 4, 5);
create table guarded (id int primary key, owner text, staff int references staff);
insert into guarded values (1, 'anon', 1), (2, 'other', 1);
alter table guarded enable row level security; create policy own on guarded using (owner = current_user);
`+open+`
revoke select on staff from anon, authenticated; grant select (id, name, boss) on staff to anon;`, nil)
	run(t, s, []exchange{
		{name: "the columns that may be read", path: "staff?select=id,name&order=id", status: 200, want: `[{"id":1,"name":"Al"},{"id":2,"name":"Bo"}]`},
		{name: "the star names every column", path: "staff", status: 401, has: []string{`"42501"`}},
		{name: "so does the star of an embed", path: "staff?select=id,boss(*)", status: 401, has: []string{`"42501"`}},
		{name: "an embed of the columns that may be read", path: "staff?select=id,boss(name)&order=id", status: 200, want: `[{"id":1,"boss":null},{"id":2,"boss":{"name":"Al"}}]`},
		{name: "a filter reads its column", path: "staff?select=id&pay=gt.1", status: 401, has: []string{`"42501"`}},
		{name: "so does an order", path: "staff?select=id&order=pay", status: 401, has: []string{`"42501"`}},
		{name: "an exact total needs no more", path: "staff?select=id", headers: []string{exact}, status: 200, want: anything, header: []string{"Content-Range: 0-1/2"}},
		{name: "dropped columns are gone", path: "staff?select=id,gone", status: 400, has: []string{`"42703"`}},
		{name: "a role with more rights sees all", path: "staff?order=id&limit=1", headers: []string{s.Service()}, status: 200, want: `[{"id":1,"name":"Al","pay":10,"boss":null}]`},
		{name: "a table with its heirs", path: "vehicle?order=id", status: 200, want: `[{"id":1,"wheels":2},{"id":2,"wheels":4}]`},
		{name: "an heir alone", path: "car", status: 200, want: `[{"id":2,"wheels":4,"doors":5}]`},
		{name: "policies hold in embeds and totals", path: "staff?select=id,guarded(id)&id=eq.1", headers: []string{exact}, status: 200, want: `[{"id":1,"guarded":[{"id":1}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "policies hold in conditions on embeds", path: "staff?select=id,guarded()&guarded.owner=eq.other&guarded=not.is.null", status: 200, want: `[]`},
	})
}
