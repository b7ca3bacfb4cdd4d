package api

import (
	"fmt"
	"strconv"
	"strings"
)

// Bytes is a size; it is written as a plain number or with KiB, MiB or GiB.
type Bytes int64

// String writes the size with the largest unit that fits exactly.
func (b Bytes) String() string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := Bytes(1) << (30 - 10*i); b != 0 && b%size == 0 {
			return strconv.FormatInt(int64(b/size), 10) + unit
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func parseBytes(text string) (Bytes, error) {
	number, shift := text, 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			number, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("%q is not a size such as 1048576, 50MiB or 1GiB", text)
	}
	return Bytes(n << shift), nil
}
