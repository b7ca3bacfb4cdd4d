// Package worker hashes passwords in a process of their own that gives way to whatever else is ready to run.
//
// # Why
//
// A password hash keeps a processor busy for tens of milliseconds. With as many of them at once as there are processors,
// each step of a read (the request, the query in PostgreSQL, its rows, the answer) finds every processor taken, and waits
// for the operating system to end a slice of a hash. Threads have priorities there, goroutines have not: a goroutine runs
// on any thread, and golang.org/x/crypto starts goroutines of its own for each hash. So the hashes have to be in a process
// whose threads all have theirs.
//
// # How
//
// The server starts its own program again, with Flag alone, at the first password, and hashes by itself until that is
// ready. Passwords go through a pipe; they are in no argument, variable or file. The process lets the operating system
// interrupt it (see giveWay), and keeps nothing. It ends when the pipe does, with the server, or when nobody has signed in
// for a minute. If it dies, or does not answer, the password is hashed by the server itself, and soon there is a next one:
// nobody notices but readers.
//
// # What it gains
//
// On two processors shared with PostgreSQL, 500 callers who sign in and one who reads, taken in turn; medians of five rounds
// and, of another build of the process, of four:
//
//	                                     hashes in the server   in the process
//	p95 of reads, without the flood        0.32 and 0.34 ms     0.33 and 0.36 ms
//	p95 of reads, in the flood             2.5 and 2.4 ms       0.30 and 0.31 ms
//	p99 of reads, in the flood             5.8 and 5.3 ms       1.2 and 0.7 ms
//	sign-ins a second, nobody reading      60 and 57            69 and 61
//	sign-ins a second, while one reads     41 and 45            26 and 14
//	a sign-in alone (bare hash: 17.0 ms)   20.1 and 19.4 ms     19.1 and 19.4 ms
//
// A process of its own alone gains a half to two thirds of it, either long slices or niceness the rest: both are asked
// for, as kernels before 6.12 know only the one. Niceness is kept low, for sign-ins shall have their share when others
// are busy as well: as SCHED_IDLE, in a session of its own, three a second were left of them. In 30 hashes, two at once,
// the process had 45 MiB as a rule, and 140 at most; without a collection after each it had 121.
//
// The process keeps 97 % and more of the rate of the bare hash on all processors (BenchmarkRate; 90 % when collections come
// in the middle of hashes as well). A loop of reads takes what it needs before that, which is meant.
//
// There is one on Linux only. Elsewhere, and in tests and commands that do not ask for it, a nil Worker hashes in the
// process that calls it.
package worker

// Flag is the one argument of the program when it is started to hash passwords. No test program takes it for one of its
// own, so that none runs itself.
const Flag = "--hash-passwords"
