package report

import (
	"os"
	"strings"
	"testing"
)

func TestScratch(t *testing.T) {
	old, now := sample(1, 1.3), sample(2, 1)
	now.Sections[0].Tables[0].Rows[3].Cells[0].Figure.Key = "reads.new.p50"
	now.Machine.Cores = 4
	f := now.Sections[1].Tables[1].Rows[0].Cells[0].Figure
	*f = *NewFigure(f.Key, f.Unit, f.Better, 3.1, 3.2, 3.15)
	now.Changes = Compare(old, now)
	var b strings.Builder
	if err := now.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/report.html", []byte(b.String()), 0o644)
	b.Reset()
	if err := now.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/report.txt", []byte(b.String()), 0o644)
}
