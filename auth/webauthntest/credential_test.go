package webauthntest_test

import (
	"testing"

	"basalt/auth/webauthntest"
)

func TestCoordinatesAreWhole(t *testing.T) {
	t.Parallel()
	for range 500 {
		if c := webauthntest.NewCredential(); len(c.Key.AttestationData()) != 77 {
			t.Fatalf("the public key has %d bytes", len(c.Key.AttestationData()))
		}
	}
}
