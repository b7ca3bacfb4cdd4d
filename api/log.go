package api

import (
	"bytes"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

const (
	// logMemory is how much of the log waits for a slow sink before lines are dropped.
	logMemory = 1 << 20
	// logGather is how long lines wait for others. Waking a writer for each would take time of the answer that it tells of.
	logGather = 10 * time.Millisecond
	// logPatience is how long the end waits for a sink that still takes nothing.
	logPatience = time.Second
)

// logSink is where the log goes. A sink that does not take its lines (a pipe that nobody reads) costs lines, which
// are counted, never the requests that wrote them. Lines that come while others are being written go out together.
type logSink struct {
	out     io.Writer
	dropped atomic.Uint64

	mu      sync.Mutex
	waiting []byte
	closed  bool
	wake    chan struct{} // holds one token when something waits
	written chan struct{} // closed when all is written
}

func newLogSink(out io.Writer) *logSink {
	s := &logSink{out: out, wake: make(chan struct{}, 1), written: make(chan struct{})}
	go s.run()
	return s
}

// Write takes one line.
func (s *logSink) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.waiting)+len(line) > logMemory {
		s.dropped.Add(1)
		return len(line), nil
	}
	s.waiting = append(s.waiting, line...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

func (s *logSink) run() {
	defer close(s.written)
	var spare []byte
	for range s.wake {
		time.Sleep(logGather)
		select {
		case <-s.wake: // of the lines that are written now
		default:
		}
		s.mu.Lock()
		lines := s.waiting
		s.waiting = spare[:0]
		s.mu.Unlock()
		_, _ = s.out.Write(lines) // there is no other place to complain at
		spare = lines
	}
}

// Close writes what waits, as far as the sink takes it.
func (s *logSink) Close() {
	s.mu.Lock()
	s.closed = true
	close(s.wake)
	s.mu.Unlock()
	select {
	case <-s.written:
	case <-time.After(logPatience):
	}
}

// perLine gives a writer its lines one by one.
type perLine struct{ io.Writer }

func (w perLine) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if _, err := w.Writer.Write(line); err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}

// newLogger makes the logger that the settings ask for over a file such as os.Stderr.
func newLogger(s *Settings, out *os.File) (zerolog.Logger, *logSink) {
	level, err := zerolog.ParseLevel(s.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel // Check has refused other names
	}
	console := s.LogFormat == "console" || s.LogFormat == "auto" && term.IsTerminal(int(out.Fd()))
	var w io.Writer = struct{ io.Writer }{out} // not a Closer: the sink's end must not be that of stderr
	if console {
		_, noColor := os.LookupEnv("NO_COLOR")
		w = perLine{zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly, NoColor: noColor || !term.IsTerminal(int(out.Fd()))}}
	}
	sink := newLogSink(w)
	return zerolog.New(sink).Level(level).With().Timestamp().Logger(), sink
}
