package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestSecretsDoNotPrint(t *testing.T) {
	const canary = "canary-4d2a"
	s := Secret(canary)
	holder := struct {
		Secret  Secret
		Secrets map[string]Secret
		Pointer *Secret
	}{s, map[string]Secret{"key": s}, &s}
	var out bytes.Buffer
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d", "%T%[1]v", "%10s", "%-5.3v"} {
		fmt.Fprintf(&out, verb, s)
		fmt.Fprintf(&out, verb, holder)
		fmt.Fprintf(&out, verb, []Secret{s})
	}
	fmt.Fprintln(&out, s, holder, fmt.Errorf("wrapped: %w %v", &Error{Message: "x"}, s))
	if err := json.NewEncoder(&out).Encode(holder); err != nil {
		t.Fatal(err)
	}
	log := zerolog.New(&out)
	log.Info().Any("a", holder).Stringer("b", s).Interface("c", s).Msgf("%v", s)
	console := zerolog.New(zerolog.ConsoleWriter{Out: &out})
	console.Info().Any("a", holder).Msg("")
	if text := out.String(); strings.Contains(text, "canary") || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", "canary")) {
		t.Errorf("the secret shows in %s", text)
	}
	if s.Reveal() != canary || !s.Equal(canary) || s.Equal("canary-4d2b") || s.Equal("") {
		t.Error("the secret is not itself")
	}
}
