package rest_test

import (
	"basalt/api"
)

// onePooled leaves all requests one connection to share.
func onePooled(s *api.Settings) { s.PoolSize = 1 }
