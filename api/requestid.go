package api

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// requestIDs makes identifiers of requests: unique to this process by a random part, in it by a counter.
type requestIDs struct {
	prefix string
	last   atomic.Uint64
}

func newRequestIDs() *requestIDs {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return &requestIDs{prefix: hex.EncodeToString(random[:]) + "-"}
}

// of gives a request's identifier: the one that its client sent, when it is harmless, else a new one.
func (ids *requestIDs) of(given string) string {
	if isRequestID(given) {
		return given
	}
	return ids.prefix + strconv.FormatUint(ids.last.Add(1), 36)
}

// isRequestID says whether text may go into logs and headers as it is.
func isRequestID(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' && c != ':' && c != '/' && c != '=' && c != '+' {
			return false
		}
	}
	return true
}
