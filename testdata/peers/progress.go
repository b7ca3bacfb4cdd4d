package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// progress tells how far a run is: on a terminal in one line that is written over, elsewhere a line for each step.
type progress struct {
	out      io.Writer
	terminal bool
}

func newProgress(out io.Writer) *progress {
	file, ok := out.(*os.File)
	return &progress{out: out, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

// The terminal's line is begun anew and cleared.
const clearLine = "\r\x1b[K"

// step tells what is done now.
func (p *progress) step(format string, values ...any) {
	if !p.terminal {
		p.say(format, values...)
		return
	}
	p.part(format, values...)
}

// part tells of a part of a step, for which a line of its own would be too much.
func (p *progress) part(format string, values ...any) {
	if p.terminal {
		fmt.Fprintf(p.out, clearLine+format, values...)
	}
}

// say tells what is still to be read when the run has ended.
func (p *progress) say(format string, values ...any) {
	p.end()
	fmt.Fprintf(p.out, format+"\n", values...)
}

// end clears the line of the terminal.
func (p *progress) end() {
	if p.terminal {
		fmt.Fprint(p.out, clearLine)
	}
}
