package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"

	"basalt/api/bench/peers"
)

// basalt is the binary of this repository, as it is shipped.
type basalt struct{ server }

func newBasalt() *basalt {
	return &basalt{server{Peer: peers.Peer{
		Name: peers.Basalt, Title: "Basalt",
		Built:    "bin/basalt of this repository",
		Identity: "A signed-in user's token; PostgreSQL's row-level security keeps her to her rows",
		Durable:  "A write is answered when PostgreSQL has it on disk (synchronous_commit and fsync on)",
	}}}
}

func (b *basalt) start(ctx context.Context, w *workshop) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, w.basalt, "version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", w.basalt, err)
	}
	// basalt VERSION (commit COMMIT)
	if fields := strings.Fields(firstLine(version)); len(fields) == 4 {
		b.Version, w.commit = fields[1], strings.TrimSuffix(fields[3], ")")
	}
	folder := filepath.Join(w.scratch, "basalt")
	env := []string{"BASALT_DATABASE_URL=" + w.postgres.url, "BASALT_JWT_SECRET=" + w.secret}
	data := filepath.Join(folder, "data")
	if b.process, err = run(folder, env, w.basalt, "serve", "--listen", address, "--data", data); err != nil {
		return err
	}
	b.url = "http://" + address
	if err := b.process.ready(ctx, b.url+"/health/ready"); err != nil {
		return err
	}
	keys := exec.CommandContext(ctx, w.basalt, "keys", "--data", data, "--listen", address)
	keys.Env = append(plainEnvironment(), env...)
	text, err := keys.Output()
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	if err := b.signUp(ctx, w, named(text, "ANON_KEY"), named(text, "SERVICE_ROLE_KEY")); err != nil {
		return err
	}
	if err := fillPostgres(ctx, w.postgres.url, w.owner); err != nil {
		return err
	}
	b.requests = postgrestRequests("Apikey: "+named(text, "ANON_KEY")+"\r\n"+bearer(w.token), "/rest/v1")
	return nil
}

// signUp makes the owner of the rows, and signs her in.
func (b *basalt) signUp(ctx context.Context, w *workshop, anon, service string) error {
	email, password := "bench-owner@example.com", rand.Text()
	text, err := ask(ctx, http.MethodPost, b.url+"/auth/v1/admin/users?apikey="+service, service,
		fmt.Appendf(nil, `{"email": %q, "password": %q, "email_confirm": true}`, email, password))
	if err != nil {
		return err
	}
	var user struct{ ID string }
	if err := json.Unmarshal(text, &user); err != nil {
		return err
	}
	text, err = ask(ctx, http.MethodPost, b.url+"/auth/v1/token?grant_type=password&apikey="+anon, "",
		fmt.Appendf(nil, `{"email": %q, "password": %q}`, email, password))
	if err != nil {
		return err
	}
	var session struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(text, &session); err != nil {
		return err
	}
	w.owner, w.token = user.ID, session.AccessToken
	return nil
}

// named finds a value in lines of names and values.
func named(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
