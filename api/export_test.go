package api

import (
	"os"

	"github.com/rs/zerolog"
)

// TestLogger is a logger with its sink.
type TestLogger struct {
	zerolog.Logger
	sink *logSink
}

// NewLoggerForTest makes the logger that the settings ask for.
func NewLoggerForTest(s *Settings, out *os.File) *TestLogger {
	log, sink := newLogger(s, out)
	return &TestLogger{log, sink}
}

// Close waits until the lines are written.
func (l *TestLogger) Close() { l.sink.Close() }

// Dropped is how many lines were lost.
func (l *TestLogger) Dropped() uint64 { return l.sink.dropped.Load() }

// SignsUpAtOnce tells whether a sign-up needs no confirmation.
func (s *Settings) SignsUpAtOnce() bool { return s.autoconfirm() }
