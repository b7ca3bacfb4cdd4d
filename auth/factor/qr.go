package factor

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

const (
	// quiet is the white edge that readers need around a code, in modules (ISO/IEC 18004 §9.1).
	quiet = 4
	// moduleSize is how many pixels a module has where the picture is not scaled.
	moduleSize = 4
)

// QRCode draws a text as an SVG picture. There is neither a # nor a % in it: clients put it behind `data:image/svg+xml;utf-8,`
// as it is.
func QRCode(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("draw QR code: %w", err)
	}
	size := code.Bounds().Dx()
	whole := size + 2*quiet
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" shape-rendering="crispEdges">`,
		whole*moduleSize, whole*moduleSize, whole, whole)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="white"/><path fill="black" d="`, whole, whole)
	for y := range size {
		for x := 0; x < size; x++ {
			start := x
			for x < size && code.At(x, y) == color.Color(color.Black) {
				x++
			}
			if x > start {
				fmt.Fprintf(&svg, "M%d %dh%dv1h-%dz", start+quiet, y+quiet, x-start, x-start)
			}
		}
	}
	svg.WriteString(`"/></svg>`)
	return svg.String(), nil
}
