package api

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// trace echoes the header by which a client follows its requests. net/http refuses requests whose values could end a
// header's line. What may not be an identifier of ours is not echoed in the place of one.
func (s *Server) trace(request *http.Request, answer http.Header) {
	name := s.settings.TraceHeader
	if name == "" || strings.EqualFold(name, "X-Request-Id") {
		return
	}
	if values := request.Header.Values(name); len(values) > 0 {
		answer[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
}

// traceable says that a header can be echoed: one that frames an answer or says what it is cannot, and one that holds a
// secret must not.
func traceable(name string) bool {
	if !httpguts.ValidHeaderFieldName(name) {
		return false
	}
	lower := strings.ToLower(name)
	for _, prefix := range []string{"content-", "access-control-", "sec-", "proxy-"} {
		if strings.HasPrefix(lower, prefix) {
			return false
		}
	}
	return !slices.Contains([]string{
		"apikey", "authorization", "cookie", "set-cookie", "connection", "keep-alive", "transfer-encoding", "te", "trailer",
		"upgrade", "host", "date", "location", "vary", "allow", "cache-control", "retry-after", "www-authenticate",
	}, lower)
}
