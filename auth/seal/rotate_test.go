package seal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/store/storetest"
)

// keep is a table of secrets with the vault that seals them.
type keep struct {
	t      testing.TB
	db     *storetest.Database
	master Key
	vault  *Vault
}

var keepColumns = []Column{{Table: "public.kept", Column: "secret", Row: "'row ' || id"}}

func newKeep(t testing.TB, rows int) *keep {
	t.Helper()
	k := &keep{t: t, db: storetest.New(t), master: key()}
	k.vault = NewVault(k.db.Pool, fixed(k.master))
	k.db.Exec(t, `create table public.kept (id integer primary key, secret text)`)
	for id := range rows {
		k.put(k.vault, id, k.seal(k.vault, id, fmt.Sprint("secret of ", id)))
	}
	return k
}

func keptCell(id int) Cell {
	return Cell{Table: "public.kept", Row: fmt.Sprint("row ", id), Column: "secret"}
}

func (k *keep) seal(v *Vault, id int, plain string) string {
	k.t.Helper()
	text, err := v.Seal(k.t.Context(), plain, keptCell(id))
	if err != nil {
		k.t.Error(err)
	}
	return text
}

func (k *keep) put(_ *Vault, id int, text string) {
	k.t.Helper()
	_, err := k.db.Pool.Exec(k.t.Context(), `insert into public.kept values ($1, $2) on conflict (id) do update set secret = excluded.secret`, id, text)
	if err != nil {
		k.t.Error(err)
	}
}

func (k *keep) count(where string, args ...any) (n int) {
	k.t.Helper()
	if err := k.db.Pool.QueryRow(k.t.Context(), `select count(*) from `+where, args...).Scan(&n); err != nil {
		k.t.Fatal(err)
	}
	return n
}

func (k *keep) current() (id string) {
	k.t.Helper()
	if err := k.db.Pool.QueryRow(k.t.Context(), `select id from basalt.encryption_keys where retired_at is null`).Scan(&id); err != nil {
		k.t.Fatal(err)
	}
	return id
}

func (k *keep) connect() *pgx.Conn {
	k.t.Helper()
	conn, err := pgx.Connect(k.t.Context(), k.db.URL)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func (k *keep) rotation() *Rotation {
	k.t.Helper()
	return &Rotation{DB: k.connect(), Writer: k.connect(), Masters: fixed(k.master), Columns: keepColumns}
}

// check opens all secrets with a vault, and expects them under the current key.
func (k *keep) check(v *Vault, rows int) {
	k.t.Helper()
	found, err := k.db.Pool.Query(k.t.Context(), `select id, secret from public.kept`)
	if err != nil {
		k.t.Fatal(err)
	}
	var id, n int
	var text string
	_, err = pgx.ForEachRow(found, []any{&id, &text}, func() error {
		n++
		plain, stale, err := v.Open(k.t.Context(), text, keptCell(id))
		if err != nil || stale || plain != fmt.Sprint("secret of ", id) {
			return fmt.Errorf("row %d: %q, %v, %w", id, plain, stale, err)
		}
		return nil
	})
	if err != nil || n != rows {
		k.t.Errorf("%d rows: %v", n, err)
	}
}

func TestARotationSealsEverythingUnderANewKey(t *testing.T) {
	k := newKeep(t, 250)
	k.put(nil, 7, "secret of 7") // in clear, as of a dump
	before := k.current()
	r := k.rotation()
	var calls []string
	var last, of int64
	r.Begin = func() error { calls = append(calls, "begin"); return nil }
	r.End = func() error { calls = append(calls, "end"); return nil }
	r.Progress = func(done, total int64) { last, of = done, total }
	n, err := r.Run(t.Context())
	if err != nil || n != 250 || last != 250 || of != 250 || strings.Join(calls, " ") != "begin end" {
		t.Fatalf("%d sealed, progress %d of %d, %v: %v", n, last, of, calls, err)
	}
	if after := k.current(); after == before || k.count(`public.kept where secret not like $1`, "enc:v1:"+after+":%") != 0 {
		t.Error("something is not under the new key")
	}
	k.check(k.vault, 250) // which meets a key that it does not know
	if k.count(`basalt.encryption_keys where id = $1`, before) != 1 {
		t.Error("the replaced key is gone at once")
	}
	k.db.Exec(t, `update basalt.encryption_keys set retired_at = retired_at - interval '61 minutes'`)
	if n, err := k.rotation().Run(t.Context()); err != nil || n != 250 {
		t.Fatalf("%d, %v", n, err)
	}
	if k.count(`basalt.encryption_keys where id = $1`, before) != 0 || k.count(`basalt.encryption_keys`) != 2 {
		t.Error("old keys pile up")
	}
	k.check(k.vault, 250)
}

func TestARotationThatWasCutOffGoesOn(t *testing.T) {
	k := newKeep(t, 350)
	r := k.rotation()
	ctx, cancel := context.WithCancel(t.Context())
	r.Progress = func(done, _ int64) {
		if done == 2*batchSize {
			cancel()
		}
	}
	if _, err := r.Run(ctx); err == nil {
		t.Fatal("it was not cut off")
	}
	half := k.current()
	if n := k.count(`public.kept where secret like $1`, "enc:v1:"+half+":%"); n != 2*batchSize {
		t.Errorf("%d are under the new key", n)
	}
	again := k.rotation()
	again.Begin = func() error { t.Error("another new key is begun"); return nil }
	n, err := again.Run(t.Context())
	if err != nil || n != 350-2*batchSize || k.current() != half {
		t.Errorf("%d sealed under %s after %s: %v", n, k.current(), half, err)
	}
	k.check(k.vault, 350)
}

func TestSecretsThatDoNotOpenAreNamedAndKept(t *testing.T) {
	k := newKeep(t, 150)
	broken := k.seal(k.vault, 999, "of another row")
	k.put(nil, 3, broken)
	var refusal *BrokenError
	n, err := k.rotation().Run(t.Context())
	if !errors.As(err, &refusal) || n != 149 || refusal.Count != 1 || !strings.Contains(err.Error(), "public.kept.secret of row row 3") || strings.Contains(err.Error(), broken) {
		t.Fatalf("%d, %v", n, err)
	}
	current := k.current()
	if k.count(`public.kept where secret = $1`, broken) != 1 || k.count(`basalt.encryption_keys`) != 2 {
		t.Error("what does not open was touched")
	}
	k.db.Exec(t, `delete from public.kept where id = 3`)
	if n, err := k.rotation().Run(t.Context()); err != nil || n != 0 || k.current() != current {
		t.Errorf("%d, %v", n, err)
	}
	k.check(k.vault, 149)
}

func TestARotationMovesToANewMasterKey(t *testing.T) {
	k := newKeep(t, 10)
	outside := Ring{k.master}.Seal("secret of 11", keptCell(11)) // of what lives shortly
	k.put(nil, 11, outside)
	fresh := key()
	r := k.rotation()
	r.Masters = fixed(fresh, k.master)
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	alone := NewVault(k.db.Pool, fixed(fresh))
	var text string
	if err := k.db.Pool.QueryRow(t.Context(), `delete from public.kept where id = 11 returning secret`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	if plain, err := (Ring{fresh}).Open(text, keptCell(11)); err != nil || plain != "secret of 11" {
		t.Errorf("%q, %v", plain, err)
	}
	k.check(alone, 10)
	var unknown *UnknownKeyError
	if _, err := NewVault(k.db.Pool, fixed(k.master)).Seal(t.Context(), "x", keptCell(1)); !errors.As(err, &unknown) {
		t.Errorf("the old master key still opens: %v", err)
	}
	wrong := k.rotation()
	if _, err := wrong.Run(t.Context()); !errors.As(err, &unknown) {
		t.Errorf("a rotation without the right master key: %v", err)
	}
	k.check(alone, 10)
}

func TestOneRotationRunsAtATime(t *testing.T) {
	k := newKeep(t, 150)
	first := k.rotation()
	met := make(chan error, 1)
	first.Begin = func() error {
		_, err := k.rotation().Run(t.Context())
		met <- err
		return nil
	}
	if _, err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-met; !errors.Is(err, ErrRotating) {
		t.Errorf("the second: %v", err)
	}
	k.check(k.vault, 150)
}

func TestProcessesWorkOnWhileKeysAreReplaced(t *testing.T) {
	const rows = 200
	k := newKeep(t, rows)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for worker := range 4 {
		vault := NewVault(k.db.Pool, fixed(k.master))
		group.Go(func() {
			for i := worker; ctx.Err() == nil; i++ {
				id := i % rows
				var text string
				if err := k.db.Pool.QueryRow(t.Context(), `select secret from public.kept where id = $1`, id).Scan(&text); err != nil {
					t.Error(err)
					return
				}
				if plain, _, err := vault.Open(t.Context(), text, keptCell(id)); err != nil || plain != fmt.Sprint("secret of ", id) {
					t.Errorf("row %d: %q, %v", id, plain, err)
					return
				}
				k.put(nil, id, k.seal(vault, id, fmt.Sprint("secret of ", id)))
			}
		})
	}
	for range 3 {
		if _, err := k.rotation().Run(t.Context()); err != nil {
			t.Errorf("rotate: %v", err)
		}
	}
	stop()
	group.Wait()
	if _, err := k.rotation().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.check(NewVault(k.db.Pool, fixed(k.master)), rows)
}
