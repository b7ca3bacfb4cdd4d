package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func TestASessionOutlivesTheAbsenceOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	ada := enter(t, s, "ada@example.com")
	admin := s.Admin(t)
	name := s.Database.Pool.Config().ConnConfig.Database
	admin(fmt.Sprintf(`alter database %q allow_connections false`, name))
	admin(fmt.Sprintf(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s'`, name))
	for _, request := range [][3]string{
		{"GET", "/session", ""}, {"GET", "/setup", ""}, {"POST", "/session", credentials("ada@example.com", "")}, {"GET", "/administrators", ""},
	} {
		apitest.Until(t, request[1]+" tells that the database is away", func() bool {
			answer := ada.do(t, request[0], request[1], request[2])
			if answer.Status == http.StatusUnauthorized || answer.Status == http.StatusInternalServerError || strings.Contains(answer.Body, name) {
				t.Errorf("%d %s", answer.Status, answer.Body)
				return true
			}
			return answer.Status == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != ""
		})
	}
	admin(fmt.Sprintf(`alter database %q allow_connections true`, name))
	apitest.Until(t, "the session is there again", func() bool { return ada.do(t, "GET", "/session", "").Status == http.StatusOK })
}
