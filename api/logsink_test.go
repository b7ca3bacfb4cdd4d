package api

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestASinkThatIsStuckCostsLinesThatAreCounted(t *testing.T) {
	reader, stuck := io.Pipe()
	sink := newLogSink(stuck)
	line := []byte(strings.Repeat("x", 1023) + "\n")
	const lines = 3 * logMemory / 1024
	for range lines {
		if n, err := sink.Write(line); n != len(line) || err != nil {
			t.Fatalf("%d bytes taken, %v", n, err)
		}
	}
	if dropped := sink.dropped.Load(); dropped < lines/3 || dropped == lines {
		t.Errorf("%d of %d lines are counted as dropped", dropped, lines)
	}
	began := time.Now()
	sink.Close() // gives up
	if took := time.Since(began); took > 20*logPatience {
		t.Errorf("the end waited %s for a sink that is stuck", took)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheLogIsWrittenWholeAndInOrderBeforeTheEnd(t *testing.T) {
	var out bytes.Buffer
	sink := newLogSink(&out)
	var want strings.Builder
	for _, word := range []string{"one", "two", "three"} {
		text := `{"msg":"` + word + `"}` + "\n"
		want.WriteString(text)
		if _, err := sink.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	sink.Close()
	if out.String() != want.String() || sink.dropped.Load() != 0 {
		t.Errorf("%q is written, %d lines dropped", out.String(), sink.dropped.Load())
	}
	if _, err := sink.Write([]byte("late\n")); err != nil || sink.dropped.Load() != 1 {
		t.Errorf("a line after the end: %v, %d dropped", err, sink.dropped.Load())
	}
}

func TestTheConsoleGetsALineForEachEvent(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	settings := Defaults()
	settings.LogFormat = "console"
	log, sink := newLogger(&settings, file)
	for _, word := range []string{"first", "second", "third"} {
		log.WithLevel(zerolog.InfoLevel).Msg(word)
	}
	sink.Close()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], "first") || !strings.HasSuffix(lines[2], "third") {
		t.Errorf("the console shows %q", text)
	}
}
