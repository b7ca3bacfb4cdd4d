package main

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strings"

	"basalt/api/bench/peers"
)

// postgREST is what defined the dialect; it is written in Haskell, so only an installed one is measured.
type postgREST struct{ server }

func newPostgREST() *postgREST {
	return &postgREST{server{Peer: peers.Peer{
		Name: "postgrest", Title: "PostgREST",
		Built:    "The program postgrest of the PATH, with as many connections as Basalt has",
		Identity: "The same token of the same user, the same policies in the same PostgreSQL",
		Durable:  "As Basalt: the same PostgreSQL",
	}}}
}

func (p *postgREST) start(ctx context.Context, w *workshop) error {
	binary, err := onPath("postgrest")
	if err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return err
	}
	p.Version = strings.TrimPrefix(firstLine(version), "PostgREST ")
	address, err := freeAddress()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	p.process, err = run(filepath.Join(w.scratch, p.Name), []string{
		"PGRST_DB_URI=" + w.postgres.url, "PGRST_DB_SCHEMAS=public", "PGRST_DB_ANON_ROLE=anon", "PGRST_DB_EXTRA_SEARCH_PATH=public,extensions",
		"PGRST_DB_POOL=" + connections(), "PGRST_JWT_SECRET=" + w.secret, "PGRST_SERVER_HOST=" + host, "PGRST_SERVER_PORT=" + port,
	}, binary)
	if err != nil {
		return err
	}
	p.url = "http://" + address
	p.requests = postgrestRequests(bearer(w.token), "")
	return p.process.ready(ctx, p.url+"/")
}
