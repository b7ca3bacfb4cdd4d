package api

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"
	"golang.org/x/term"
)

// logLines is how many log lines wait for a slow sink before the oldest are dropped.
const logLines = 4096

// logSink is where the log goes. A sink that does not take its lines (a pipe that nobody reads) costs lines, which
// are counted, never the requests that wrote them.
type logSink struct {
	diode.Writer
	dropped atomic.Uint64
}

// newLogger makes the logger that the settings ask for over a file such as os.Stderr.
func newLogger(s *Settings, out *os.File) (zerolog.Logger, *logSink) {
	level, err := zerolog.ParseLevel(s.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel // Check has refused other names
	}
	console := s.LogFormat == "console" || s.LogFormat == "auto" && term.IsTerminal(int(out.Fd()))
	var w io.Writer = out
	if console {
		_, noColor := os.LookupEnv("NO_COLOR")
		w = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly, NoColor: noColor || !term.IsTerminal(int(out.Fd()))}
	}
	sink := &logSink{}
	sink.Writer = diode.NewWriter(w, logLines, 10*time.Millisecond, func(missed int) { sink.dropped.Add(uint64(missed)) })
	return zerolog.New(sink).Level(level).With().Timestamp().Logger(), sink
}
