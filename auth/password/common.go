package password

import (
	_ "embed"
	"strings"
)

// commonList are the passwords that leaks hold most often, 42,692 of them: those of six characters and more from the
// package @zxcvbn-ts/language-common 4.1.3 (MIT, its licence is in common.LICENSE.txt). It is sorted by bytes, lower case,
// one password a line, and searched as it is: a list of strings would take twice its memory.
//
//go:embed common.txt
var commonList string

// known tells whether a password in lower case is among the common ones.
func known(password string) bool {
	low, high := 0, len(commonList) // both are at the beginning of a line
	for low < high {
		start := strings.LastIndexByte(commonList[:(low+high)/2], '\n') + 1
		if start < low {
			start = low
		}
		line, _, _ := strings.Cut(commonList[start:], "\n")
		switch strings.Compare(password, line) {
		case 0:
			return true
		case -1:
			high = start
		default:
			low = start + len(line) + 1
		}
	}
	return false
}
