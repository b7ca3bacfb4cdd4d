// Package soak tests the built binary from outside: through crashes, outages, floods and restarts.
//
// Its tests run on Linux. `make test` runs about a tenth of what `make soak` runs: BASALT_SOAK asks for all of it.
// BASALT_SOAK_SEED repeats the random choices of an earlier run, BASALT_SOAK_BINARY tests a binary that is there.
package soak
