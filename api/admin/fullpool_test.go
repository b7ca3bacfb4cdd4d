package admin_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
)

// Whoever changes what is sealed holds a connection of the pool. If reading the keys took another one, as many changes
// at once as the pool has connections would wait for each other.
func TestChangesOfSecretsThatFillThePoolDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	const connections = 4 // of the side pool, at the least
	first := apitest.Start(t, "", nil)
	headers := first.Administrator(t, administrator.Owner)
	providersOf(t, (&dashboard{first, headers}).call(t, "POST", "/providers/custom", admin.CustomProviderChange{
		Type: auth.CustomPreset, Identifier: "gitlab", ClientID: changing("id"), ClientSecret: changing(auth.Secret("a secret")),
	}))
	// A key that is not known is looked for each time.
	first.Database.Exec(t, `insert into basalt.settings (name, value, secret) values ('app-settings', '', 'enc:v1:gone:AAAA')`)

	for what, test := range map[string]struct{ hold, path, body string }{
		"settings":  {`lock table basalt.settings in share row exclusive mode`, "/settings", `{"changes":{"max-rows":"7"}}`},
		"providers": {`select from auth.custom_oauth_providers for update`, "/providers/custom/gitlab", `{"enabled":false}`},
	} {
		t.Run(what, func(t *testing.T) {
			settings := apitest.Settings(t, first.Database.URL)
			settings.PoolSize = 1
			d := &dashboard{apitest.Over(t, first.Database, settings), headers} // it has read no keys yet
			holder, err := first.Database.Pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = holder.Rollback(context.Background()) }() // the pool is closed when all is given back
			if _, err := holder.Exec(t.Context(), test.hold); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for range connections {
				all.Go(func() {
					if answer := d.call(t, "PATCH", test.path, test.body); answer.Status != http.StatusOK {
						t.Errorf("%d %s", answer.Status, answer.Body)
					}
				})
			}
			apitest.Until(t, "all changes wait", func() bool { return waiting(t, first) == connections })
			if err := holder.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
			all.Wait()
		})
	}
}

// waiting counts the sessions of the server's database that wait for a lock. It is asked outside of a transaction, which
// would see only those that were there at its first look.
func waiting(t *testing.T, s *apitest.Server) (n int) {
	t.Helper()
	err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
