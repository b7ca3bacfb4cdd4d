package admin

import (
	"context"
	"errors"
	"testing"
)

func TestNobodyIsHeldUpByWhoLooksForSchemas(t *testing.T) {
	t.Parallel()
	d, err := OpenData(t.Context(), DataOptions{DatabaseURL: "postgres://127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	d.rest.looking <- struct{}{} // as long as PostgreSQL does not answer
	ctx, leave := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := d.mount(ctx)
		waits <- err
	}()
	leave()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("a request whose client has left ended by %v", err)
	}
	d.Close() // the server ends, too
	refused := &refusal{}
	if _, err := d.mount(t.Context()); !errors.As(err, &refused) {
		t.Errorf("after the end: %v", err)
	}
}
