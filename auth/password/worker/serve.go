//go:build linux

package worker

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"basalt/auth/password"
)

// question is a password to be hashed, or to be compared with a stored hash. The server's gate bounds how many there are
// at once.
type question struct {
	ID       uint64
	Password string
	Stored   string              // empty: the password is to be hashed
	Costs    password.Parameters // of the new hash
}

// answer has the number of its question.
type answer struct {
	ID   uint64
	Done bool // false: it cannot be answered
	Hash string
	Fits bool
}

// hello is the number of the answer that says that questions are taken.
const hello = 0

// Run is what the process does: it answers on standard output what it is asked on standard input, until that ends.
func Run() error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the server has got them as well and tells when it is done
	if err := giveWay(); err != nil {
		return fmt.Errorf("give way to other processes: %w", err)
	}
	debug.SetGCPercent(-1) // it is collected after each hash, and need not be in the middle of one as well
	return serve(os.Stdin, os.Stdout)
}

func serve(in io.Reader, out io.Writer) error {
	questions, answers := gob.NewDecoder(in), gob.NewEncoder(out)
	if err := answers.Encode(answer{ID: hello}); err != nil {
		return err
	}
	var turn sync.Mutex
	for {
		var q question
		err := questions.Decode(&q)
		if errors.Is(err, io.EOF) {
			return nil // nobody waits for what is still being hashed
		}
		if err != nil {
			return err
		}
		go func() {
			turn.Lock()
			a := answer{ID: q.ID} // begun when the memory of the last hash is there again
			turn.Unlock()
			a.find(q)
			turn.Lock()
			defer turn.Unlock()
			_ = answers.Encode(a) // who does not read has ended, and with it the questions
			runtime.GC()
		}()
	}
}

func (a *answer) find(q question) {
	var err error
	if q.Stored == "" {
		a.Hash, err = q.Costs.Hash(q.Password)
	} else {
		a.Fits, err = password.Verify(q.Stored, q.Password)
	}
	a.Done = err == nil
}
