package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"basalt/api/bench/peers"
)

// smoothDBVersion is asked of the module's registry where no smoothdb is on the PATH.
const smoothDBVersion = "latest"

// smoothDB is PostgREST's dialect in Go.
type smoothDB struct{ server }

func newSmoothDB() *smoothDB {
	return &smoothDB{server{Peer: peers.Peer{
		Name: "smoothdb", Title: "SmoothDB", Version: smoothDBVersion,
		Built: "The module's main program, or the smoothdb of the PATH, with its default sessions and pool",
		Identity: "The same token of the same user and the same policies; a session keeps its connection with role and claims set, " +
			"so that requests that follow within a second set neither",
		Durable: "As Basalt: the same PostgreSQL",
	}}}
}

func (s *smoothDB) start(ctx context.Context, w *workshop) error {
	binary, err := onPath("smoothdb")
	if err != nil {
		if binary, err = w.goInstall(ctx, s.Name, "github.com/sted/smoothdb", smoothDBVersion); err != nil {
			return err
		}
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	database, err := pgx.ParseConfig(w.postgres.url)
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"Address": address, "BaseAPIURL": "", "ShortAPIURL": true, "AllowAnon": false, "JWTSecret": w.secret,
		"Database": map[string]any{
			"URL": w.postgres.url, "AllowedDatabases": []string{database.Database}, "SchemaSearchPath": []string{"public", "extensions"},
		},
		"Logging": map[string]any{"FilePath": "./smoothdb.log"},
	})
	if err != nil {
		return err
	}
	folder := filepath.Join(w.scratch, s.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "config.jsonc"), config, 0o600); err != nil {
		return err
	}
	if s.process, err = run(folder, nil, binary); err != nil {
		return err
	}
	s.url = "http://" + address
	s.requests = postgrestRequests(bearer(w.token), "")
	return s.process.ready(ctx, s.url+"/ready")
}
