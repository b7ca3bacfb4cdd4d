package factor

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/boombuler/barcode/qr"
)

func TestAQRCodeShowsEveryModule(t *testing.T) {
	for _, text := range []string{"otpauth://totp/a:b?secret=JBSWY3DPEHPK3PXP", strings.Repeat("long %20", 200)} {
		picture, err := QRCode(text)
		if err != nil {
			t.Fatal(err)
		}
		var svg struct {
			ViewBox string `xml:"viewBox,attr"`
			Path    struct {
				D string `xml:"d,attr"`
			} `xml:"path"`
		}
		if err := xml.Unmarshal([]byte(picture), &svg); err != nil {
			t.Fatal(err)
		}
		black := map[[2]int]bool{}
		for _, run := range strings.Split(strings.TrimSuffix(svg.Path.D, "z"), "z") {
			var x, y, length, back int
			if _, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &length, &back); err != nil || length != back {
				t.Fatalf("%q: %v", run, err)
			}
			for i := range length {
				black[[2]int{x + i - quiet, y - quiet}] = true
			}
		}
		code, err := qr.Encode(text, qr.M, qr.Auto)
		if err != nil {
			t.Fatal(err)
		}
		size := code.Bounds().Dx()
		if svg.ViewBox != fmt.Sprintf("0 0 %d %d", size+2*quiet, size+2*quiet) {
			t.Errorf("the view is %s", svg.ViewBox)
		}
		for x := range size {
			for y := range size {
				if want := code.At(x, y) == color.Color(color.Black); black[[2]int{x, y}] != want {
					t.Fatalf("module %d,%d is black: %v", x, y, !want)
				}
			}
		}
		if strings.ContainsAny(picture, "#%\n") {
			t.Error("the picture cannot stand in a data URL")
		}
	}
	if _, err := QRCode(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text without room is drawn")
	}
}

func BenchmarkQRCode(b *testing.B) {
	uri := NewTOTP("app.example.com", "jane@example.com").URI
	b.ReportAllocs()
	for b.Loop() {
		if _, err := QRCode(uri); err != nil {
			b.Fatal(err)
		}
	}
}
