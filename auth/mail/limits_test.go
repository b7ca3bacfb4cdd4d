package mail_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"basalt/auth"
	"basalt/auth/mail"
)

func nested(open string, depth int) string {
	return strings.Repeat(open, depth) + "x" + strings.Repeat("{{ end }}", depth)
}

func TestATemplateThatWouldNotEndIsRefused(t *testing.T) {
	t.Parallel()
	chain := strings.Builder{} // each part takes the next one in twice
	for i := range 60 {
		fmt.Fprintf(&chain, `{{ define "p%d" }}{{ template "p%d" . }}{{ template "p%d" . }}{{ end }}`, i, i+1, i+1)
	}
	chain.WriteString(`{{ define "p60" }}{{ end }}{{ template "p0" . }}x`)
	knot := strings.Builder{}
	for i := range 20 {
		fmt.Fprintf(&knot, `{{ define "p%d" }}{{ if . }}`, i)
		for j := range 20 {
			fmt.Fprintf(&knot, `<a title="{{ template "p%d" }}">{{ template "p%d" }}</a>`, j, j)
		}
		knot.WriteString(`{{ end }}{{ end }}`)
	}
	knot.WriteString(`x{{ template "p0" }}`)
	ladder := strings.Builder{}
	for i := range 20 {
		fmt.Fprintf(&ladder, `{{ define "p%d" }}{{ range $ }}`, i)
		for j := i + 1; j <= 20; j++ {
			fmt.Fprintf(&ladder, `<a title="{{ template "p%d" $ }}">{{ template "p%d" $ }}</a>`, j, j)
		}
		ladder.WriteString(`{{ end }}{{ end }}`)
	}
	ladder.WriteString(`{{ define "p20" }}{{ end }}x{{ template "p0" 2 }}`)
	const steps, value, format, deep = "more than 5000 steps", "longer than 4096 bytes", "four digits", "in one another"
	for _, test := range []struct{ name, body, want string }{
		{"a long range", `x{{ range 9000000000000000000 }}{{ end }}`, steps},
		{"a long range that goes on", `x{{ range 9000000000000000000 }}{{ continue }}{{ end }}`, steps},
		{"a long range that has another beside", `x{{ range 2600 }}{{ if . }}{{ else }}{{ end }}{{ end }}`, steps},
		{"ranges in one another", `x{{ range 1000 }}{{ range 1000 }}{{ range 1000 }}{{ end }}{{ end }}{{ end }}`, steps},
		{"ranges that are read 2^n times", nested("{{ range . }}", 60), deep},
		{"ranges below conditions", nested("{{ range . }}{{ if . }}{{ else }}{{ end }}{{ with . }}", 20) + strings.Repeat("{{ end }}", 20), deep},
		{"ranges in a part", `{{ define "part" }}` + nested("{{ range . }}", 16) + `{{ end }}x`, deep},
		{"parts that are taken in 2^n times", chain.String(), deep},
		{"parts that take in all later ones in a range", ladder.String(), deep},
		{"a part that takes itself in", `{{ define "p" }}{{ template "p" . }}{{ end }}x{{ template "p" . }}`, `the template "p" takes itself in`},
		{"parts that take one another in", knot.String(), "takes itself in"},
		{"parts that take themselves in below conditions", `{{ define "p" }}{{ if . }}{{ else }}{{ template "q" }}{{ end }}{{ end }}{{ define "q" }}{{ range . }}{{ template "p" }}{{ end }}{{ end }}x`, "takes itself in"},
		{"a long expression in a range", `x{{ range 1000 }}{{ $x := or` + strings.Repeat(" 0", 500) + ` }}{{ end }}`, steps},
		{"a text that is written again and again", `{{ range 4000 }}` + strings.Repeat("x", 1000) + `{{ end }}`, "more than 2097152 bytes"},
		{"a text that is doubled", `{{ $x := "x" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}`, value},
		{"a text that is doubled in lines", `{{ $x := "x" }}{{ range 60 }}{{ $x = println $x $x }}{{ end }}`, value},
		{"a text that is doubled by a format", `{{ $x := "x" }}{{ range 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`, value},
		{"backslashes that are doubled", `{{ $x := "\\" }}{{ range 60 }}{{ $x = js $x }}{{ end }}`, value},
		{"ampersands that grow", `{{ $x := "` + strings.Repeat("&", 2000) + `" }}{{ range 60 }}{{ $x = $x | html | print }}{{ end }}`, value},
		{"percents that grow", `{{ $x := "` + strings.Repeat("%", 4000) + `" }}{{ range 60 }}{{ $x = $x | urlquery | print }}{{ end }}`, value},
		{"a wide format", `x{{ $x := printf "%999999d" 1 }}`, format},
		{"a format with many places", `x{{ $x := printf "%.999999f" 1.0 }}`, format},
		{"a wide format with zeros", `x{{ $x := printf "%0999999d" 1 }}`, format},
		{"a format of a width that is a value", `x{{ $x := printf "%*d" 999999 1 }}`, format},
		{"a format that has a value often", `x{{ $x := printf "%[1]s%[1]s" "x" }}`, format},
		{"a format behind a percent", `x{{ $x := printf "%5%%999999d" 1 }}`, format},
		{"a deep expression", `x{{ $x := ` + strings.Repeat("(", 60_000) + `1` + strings.Repeat(")", 60_000) + ` }}`, "depth"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{".html", ".txt"} {
				_, err := mail.LoadTemplates(files(map[string]string{"invite" + end: "Subject: x\n\n" + test.body}), "en")
				wrong, ok := errors.AsType[*mail.TemplateError](err)
				if !ok || wrong.File != "invite"+end || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %.500v, want %q", end, err, test.want)
				}
			}
			if _, err := mail.LoadTemplates(files(map[string]string{"invite.txt": "Subject: " + test.body + "\n\nx"}), "en"); err == nil {
				t.Error("it is taken as a subject")
			}
		})
	}
}

func TestWhatATemplateNeedsIsWithinItsLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, body, want string }{
		{"a format", `{{ printf "%.3s-%-5s|%05d %d%%1000" .Token "a" 42 7 }}`, "123-a    |00042 7%1000"},
		{"a code in groups", `{{ if .Token }}{{ slice .Token 0 3 }} {{ slice .Token 3 }}{{ end }}`, "123 456"},
		{"a list", `{{ range $i, $one := .Data.list }}{{ if $i }}, {{ end }}{{ $one }}{{ else }}none{{ end }}`, "a, b"},
		{"a list of lists", nested(`{{ range $.Data.list }}`, 5), strings.Repeat("x", 32)},
		{"a long chain of conditions", `{{ if eq .Token "" }}{{ end }}` + strings.Repeat(`{{ if eq .Token "x" }}no{{ else }}`, 200) + "yes" + strings.Repeat("{{ end }}", 200), "yes"},
		{"functions", `{{ print "a" 1 2 }} {{ urlquery "a/b" }} {{ len .Token }} {{ with .Data.list }}{{ index . 1 }}{{ end }}`, "a1 2 a%2Fb 6 b"},
		{"a part of one's own", `{{ define "badge" }}[{{ . }}]{{ end }}{{ template "badge" .Token }}`, "[123456]"},
	} {
		for end, part := range map[string]func(mail.Letter) string{".html": func(l mail.Letter) string { return l.HTML }, ".txt": func(l mail.Letter) string { return strings.TrimSuffix(l.Text, "\n") }} {
			templates, err := mail.LoadTemplates(files(map[string]string{"invite" + end: "Subject: x\n\n" + test.body}), "en")
			if err != nil {
				t.Errorf("%s in %s: %v", test.name, end, err)
				continue
			}
			letter, err := templates.Write(auth.Mail{Kind: auth.MailInvite, To: "ann@example.com", Token: "123456", Data: []byte(`{"list":["a","b"]}`)}, siteURL)
			if err != nil || part(letter) != test.want {
				t.Errorf("%s in %s: %q (%v), want %q", test.name, end, part(letter), err, test.want)
			}
		}
	}
}
