package admin_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

// imported sends a file and gives the lines of the answer.
func (d *dashboard) imported(t *testing.T, table, query, kind, file string, headers ...string) (lines []admin.ImportLine, end admin.ImportFinished) {
	t.Helper()
	answer := d.call(t, "POST", "/import/"+table+"?"+query, file, append(headers, "Content-Type: "+kind)...)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return importLines(t, answer.Body)
}

func importLines(t *testing.T, text string) (lines []admin.ImportLine, end admin.ImportFinished) {
	t.Helper()
	for line := range strings.Lines(text) {
		var one admin.ImportLine
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, one)
	}
	if len(lines) == 0 || lines[len(lines)-1].Finished == nil {
		t.Fatalf("the answer has no end: %s", text)
	}
	return lines, *lines[len(lines)-1].Finished
}

// content gives all rows of a table as text.
func (d *dashboard) content(t *testing.T, table string) (all string) {
	t.Helper()
	err := d.Database.Pool.QueryRow(t.Context(), `select coalesce(string_agg(t::text, ' ' order by t::text), '') from `+table+` t`).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const places = `create table places (id int primary key, name varchar(5) not null, at timestamptz, tags text[], note json, n numeric default 7 check (n > 0))`

func TestFilesOfEachFormatAreImported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, query, kind, file, want string }{
		{"CSV with quotes, breaks, empty and NULL", "format=csv", "text/csv",
			"\ufeffid,name,tags,n\r\n1,\"a,\"\"b\",\"{x,\"\"y z\"\"}\",1.50\r\n\r\n2,\"\",,2\n3,\"l\n2\",{},3",
			`(1,"a,""b",,"{x,""y z""}",,1.50) (2,"",,,,2) (3,"l` + "\n" + `2",,{},,3)`},
		{"a JSON array, exactly", "format=json", "application/json",
			"[{\"id\":1,\"name\":\"ü\",\"note\":{\"a\" :  [1]},\"n\":12345678901234567890.10},\n{\"id\":2,\"name\":\"b\",\"tags\":[\"x \\\"y\",null,\"\\\\\"]}]",
			`(1,ü,,,"{""a"" :  [1]}",12345678901234567890.10) (2,b,,"{""x \\""y"",NULL,""\\\\""}",,7)`},
		{"objects a line, the default where nothing is said", "format=ndjson", "application/x-ndjson",
			"{\"id\":1,\"name\":\"a\"}\n\n{\"id\":2,\"name\":\"b\",\"n\":null}\n", `(1,a,,,,7) (2,b,,,,)`},
		{"CSV with semicolons", "format=csv&delimiter=%3B", "text/csv", "id;name\n1;\"a;b\"\n2;c,d\n", "(1,a;b,,,,7) (2,\"c,d\",,,,7)"},
		{"CSV with tabs", "format=csv&delimiter=%09", "text/csv", "id\tname\n1\ta, b\n", "(1,\"a, b\",,,,7)"},
		{"CSV with decimal commas, exactly, in numbers alone", "format=csv&delimiter=%3B&decimal=%2C", "text/csv",
			"id;name;n\n1.234;1,5;12.345.678.901.234.567.890,10\n2;a;2,50\n3;b;1,5e3\n", "(1234,\"1,5\",,,,12345678901234567890.10) (2,a,,,,2.50) (3,b,,,,1500)"},
		{"JSON, whose numbers have points", "format=json&decimal=%2C", "application/json", `[{"id":1,"name":"a","n":1.5}]`, "(1,a,,,,1.5)"},
		{"a mapping", "format=csv&mapping=" + url.QueryEscape(`{"No":"id","Ort":"name"}`), "text/csv", "No,Land,Ort\n1,x,Ulm\n", "(1,Ulm,,,,7)"},
		{"a dry run", "format=csv&dry_run=true", "text/csv", "id,name\n1,a\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := openDashboard(t, places, administrator.Editor)
			lines, end := d.imported(t, "public/places", test.query, test.kind, test.file)
			if got := d.content(t, "places"); got != test.want || end.Kept != (test.want != "") || end.Refused != 0 {
				t.Errorf("got  %s\nwant %s\ntold %+v", got, test.want, lines[0])
			}
		})
	}
}

func TestRefusedRowsAreToldWithTheirLineAndColumn(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, places, administrator.Editor)
	file := "id,name,at,n\n1,a,2024-01-01,1\nx,b,,2\n3,toolong,,3\n4,,,4\n5,e,never,5\n6,f,,-1\n1,g,,7\n8,h\n9,\"i\nj\",,9\n10,k\x00,,1\n11,l,infinity,\n"
	lines, end := d.imported(t, "public/places", "format=csv", "text/csv", file)
	told := ""
	for _, line := range lines {
		if line.Refused != nil {
			told += fmt.Sprintf("%d %s %s, ", line.Refused.Line, line.Refused.Code, line.Refused.Column)
		}
	}
	for _, want := range []string{"3 22P02 id,", "4 22001 name,", "5 23502 name,", "6 22007 at,", "7 23514 ,", "8 23505 ,", "9 bad_row ,", "12 bad_row ,"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not among %s", want, told)
		}
	}
	if !end.Kept || end.Inserted != 3 || end.Refused != 8 {
		t.Errorf("the end is %+v, told %s", end, told)
	}
	_, end = d.imported(t, "public/places", "format=csv&on_conflict=skip", "text/csv", "id,name\n1,new\n20,t\n")
	if end.Inserted != 1 || end.Skipped != 1 {
		t.Errorf("skipped: %+v", end)
	}
	d.imported(t, "public/places", "format=csv&on_conflict=update", "text/csv", "id,name\n1,new\n")
	if got := d.content(t, "places"); !strings.Contains(got, "(1,new,") {
		t.Errorf("updated: %s", got)
	}
	_, end = d.imported(t, "public/places", "format=csv&strict=true", "text/csv", "id,name\n30,a\nx,b\n")
	if end.Kept || end.Refused != 1 || strings.Contains(d.content(t, "places"), "(30,") {
		t.Errorf("strict: %+v", end)
	}
	for query, file := range map[string]string{
		"format=xml": "", "format=csv": "", "format=json": `{"id":1}`, "format=csv&on_conflict=merge": "id\n1", "format=csv&mapping=[]": "id\n1", "format=csv&delimiter=x": "id\n1", "format=csv&strict=x": "nothing\n1",
		"format=csv&strict=y": "id,id\n1,2\n", "format=json&strict=z": `[{"id":1},`, "format=csv&strict=q": "id,name\n1,\"a",
	} {
		answer := d.call(t, "POST", "/import/public/places?"+query, file, "Content-Type: text/csv")
		if answer.Status != http.StatusBadRequest {
			t.Errorf("%s %q is answered %d %s", query, file, answer.Status, answer.Body)
		}
	}
}

func TestARefusedRowIsToldWithTheValueAtFault(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table towns (id int primary key); create table streets (town int references towns, name text)`, administrator.Editor)
	lines, _ := d.imported(t, "public/streets", "format=csv", "text/csv", "town,name\n99,a\n")
	for _, line := range lines {
		if line.Refused != nil {
			if want := `Key (town)=(99) is not present in table "towns".`; line.Refused.Code != "23503" || line.Refused.Details != want {
				t.Errorf("refused with %+v, not with the details %q", *line.Refused, want)
			}
			return
		}
	}
	t.Errorf("nothing was refused: %+v", lines)
}

func TestPoliciesHoldForImports(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table notes (id int, owner text);
		alter table notes enable row level security;
		create policy own on notes to anon with check (owner = 'anon');
		grant insert on notes to anon;
		revoke all on notes from authenticated`, administrator.Editor)
	_, end := d.imported(t, "public/notes", "format=csv", "text/csv", "id,owner\n1,anon\n2,root\n3,anon\n", "X-View-As-Role: anon")
	if end.Inserted != 2 || end.Refused != 1 || d.content(t, "notes") != "(1,anon) (3,anon)" {
		t.Errorf("%+v %s", end, d.content(t, "notes"))
	}
	if answer := d.call(t, "POST", "/import/public/notes?format=csv", "id,owner\n1,x\n", "Content-Type: text/csv", "X-View-As-Role: authenticated"); answer.Status != http.StatusForbidden {
		t.Errorf("a role without the right: %d %s", answer.Status, answer.Body)
	}
}

func TestAnImportThatIsCutKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		cut  func(t *testing.T, d *dashboard, w *io.PipeWriter)
		want string
	}{
		{"PostgreSQL goes away", func(t *testing.T, d *dashboard, w *io.PipeWriter) {
			d.Database.Exec(t, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'basalt console'`)
			go func() { _, _ = w.Write([]byte(strings.Repeat("1\n", 5000))); w.Close() }()
		}, "Nothing was kept"},
		{"the administrator's session ends", func(t *testing.T, d *dashboard, w *io.PipeWriter) {
			d.call(t, "DELETE", "/session", nil)
			go func() { // the file goes on until nobody reads it
				for {
					if _, err := w.Write([]byte(strings.Repeat("1\n", 1000))); err != nil {
						return
					}
				}
			}()
		}, "signed_out"},
		{"the network goes away", func(_ *testing.T, _ *dashboard, w *io.PipeWriter) {
			w.CloseWithError(io.ErrUnexpectedEOF)
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := openDashboard(t, `create table t (n int)`, administrator.Editor)
			reader, writer := io.Pipe()
			defer reader.Close()
			request, err := http.NewRequestWithContext(t.Context(), "POST", d.URL+"/admin/api/import/public/t?format=csv", reader)
			if err != nil {
				t.Fatal(err)
			}
			for _, header := range append(d.headers, "Content-Type: text/csv") {
				name, value, _ := strings.Cut(header, ": ")
				request.Header.Set(name, value)
			}
			answers := make(chan string, 1)
			go func() {
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					answers <- ""
					return
				}
				defer response.Body.Close()
				text, _ := io.ReadAll(response.Body)
				answers <- string(text)
			}()
			if _, err := writer.Write([]byte("n\n" + strings.Repeat("1\n", 100_000))); err != nil {
				t.Fatal(err)
			}
			apitest.Until(t, "rows are written", func() bool {
				var open int
				err := d.Database.Pool.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'basalt console' and backend_xid is not null`).Scan(&open)
				return err == nil && open == 1
			})
			test.cut(t, d, writer)
			if text := <-answers; !strings.Contains(text, test.want) || strings.Contains(text, `"kept":true`) {
				t.Errorf("told %.500s", text)
			}
			apitest.Until(t, "the transaction is over", func() bool {
				var open int
				err := d.Database.Pool.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'basalt console' and backend_xid is not null`).Scan(&open)
				return err == nil && open == 0
			})
			if got := d.content(t, "t"); got != "" {
				t.Errorf("kept %.100s", got)
			}
		})
	}
}

func BenchmarkImport(b *testing.B) {
	s := apitest.Start(b, `create table t (id int primary key, name text, at timestamptz, n numeric, ok boolean)`, nil)
	headers := append(s.Administrator(b, administrator.Editor), "Content-Type: text/csv")
	var file strings.Builder
	file.WriteString("id,name,at,n,ok\n")
	for i := range 100_000 {
		fmt.Fprintf(&file, "%d,name of %d,2024-01-01 00:00:00+00,%d.5,true\n", i, i, i)
	}
	for b.Loop() {
		answer := s.Do(b, "POST", "/admin/api/import/public/t?format=csv&dry_run=true", file.String(), headers...)
		if !strings.Contains(answer.Body, `"inserted":100000`) {
			b.Fatal(answer.Body)
		}
	}
	b.ReportMetric(float64(100_000*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func TestRefusedNumbersAreToldAsTheFileHasThem(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, places, administrator.Editor)
	lines, end := d.imported(t, "public/places", "format=csv&delimiter=%3B&decimal=%2C&dry_run=true", "text/csv",
		"id;name;n\n1;a;1.5\n2,50;a;1\n99.999.999.999;a;1\n3;a;abc\n4;a;1,5\n")
	want := map[int64]string{2: `"1.5"`, 3: `"2,50"`, 4: `"99.999.999.999"`, 5: `"abc"`}
	for _, line := range lines {
		if line.Refused == nil {
			continue
		}
		if !strings.Contains(line.Refused.Reason, want[line.Refused.Line]) || line.Refused.Column == "" {
			t.Errorf("got %+v, want %s", line.Refused, want[line.Refused.Line])
		}
	}
	if end.Refused != int64(len(want)) || end.Inserted != 1 {
		t.Errorf("got %+v", end)
	}
	if answer := d.call(t, "POST", "/import/public/places?format=csv&decimal=x", "id\n1\n", "Content-Type: text/csv"); answer.Status != http.StatusBadRequest {
		t.Errorf("another decimal sign: %d %s", answer.Status, answer.Body)
	}
}
