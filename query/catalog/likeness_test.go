package catalog

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	candidates := []string{"orders", "order_items", "customers", "Ärzte", "ab", "invoices_2024", "invoices_2025"}
	for _, test := range []struct{ name, wrong, want string }{
		{"a letter too few", "order", "orders"},
		{"a letter too many", "customerss", "customers"},
		{"another case", "ORDERS", "orders"},
		{"two letters swapped in a long name", "cusotmers", "customers"},
		{"letters beyond ASCII", "ärzt", "Ärzte"},
		{"three quarters are enough", "ordexs", "orders"},
		{"less than three quarters are not", "ordxxs", ""},
		{"the first of two that are alike", "invoices_202x", "invoices_2024"},
		{"short names", "ac", ""},
		{"nothing", "", ""},
		{"a very long name", strings.Repeat("orders", 1000), ""},
		{"no letter in common", "zzzzzz", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			best := newNearest(test.wrong, minLikeness)
			for _, candidate := range candidates {
				best.offer(candidate)
			}
			got, found := best.found, best.found != ""
			if got != test.want || found != (test.want != "") {
				t.Errorf("%q %t, want %q", got, found, test.want)
			}
		})
	}
}
