package main

import (
	"errors"
	"testing"
)

func TestAnErrorThatQuotesAnotherServerDoesNotSteerTheTerminal(t *testing.T) {
	said := errors.New("status 500: \x1b]0;title\x07\x1b[2J\nnext\tword\u009b1m")
	want := "status 500: \uFFFD]0;title\uFFFD\uFFFD[2J next word\uFFFD1m"
	if got := explain(t.Context(), said); got != want {
		t.Errorf("%q instead of %q", got, want)
	}
}
