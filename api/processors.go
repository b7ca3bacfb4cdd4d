package api

import (
	"os"
	"runtime"
)

// shareProcessors lets Go run twice as many threads as there are processors. A password hash keeps a thread busy for
// tens of milliseconds; with one thread per processor and a hash on each, whatever else becomes ready waits for Go's
// scheduler to interrupt one, which it does every ten milliseconds, several times in the course of a request. With
// threads to spare the operating system shares the processors, in a fraction of that. As many hashes run at once as
// there are processors, so that their rate is what it was. Most are in another process (see package worker), but not
// everywhere and not always.
//
// A GOMAXPROCS in the environment is somebody's decision and stays.
func shareProcessors(processors int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * processors)
	}
}
