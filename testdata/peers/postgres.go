package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"basalt/api/bench/peers"
	"basalt/store/managed"
)

// postgres is the database that the peers on PostgreSQL share.
type postgres struct {
	url     string
	managed *managed.Server
	given   string // the server's URL when it is somebody else's, with a database made for the run
	name    string // of that database
}

// startPostgres starts a throw-away PostgreSQL, or makes a database in a given one.
func startPostgres(ctx context.Context, scratch, given string) (*postgres, error) {
	if given == "" {
		server, err := managed.Start(ctx, managed.Options{DataDir: filepath.Join(scratch, "postgres"), Log: zerolog.Nop()})
		if err != nil {
			return nil, fmt.Errorf("start PostgreSQL: %w", err)
		}
		return &postgres{url: server.URL(), managed: server}, nil
	}
	u, err := url.Parse(given)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return nil, errors.New("the database is given by a URL such as postgres://postgres@127.0.0.1:5432/postgres")
	}
	p := &postgres{given: given, name: "basalt_peers_" + strings.ReplaceAll(uuid.NewString(), "-", "")}
	u.Path = "/" + p.name
	p.url = u.String()
	return p, p.exec(ctx, "create database "+pgx.Identifier{p.name}.Sanitize())
}

func (p *postgres) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, p.given)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql)
	return err
}

// describe tells what the figures depend on.
func (p *postgres) describe(ctx context.Context, o *peers.Outcome) error {
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, `show server_version`).Scan(&o.Postgres); err != nil {
		return err
	}
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_connections", "jit"} {
		setting := peers.Setting{Name: name}
		if err := conn.QueryRow(ctx, `select current_setting($1)`, name).Scan(&setting.Value); err != nil {
			return err
		}
		o.Settings = append(o.Settings, setting)
	}
	return nil
}

// stop ends the server, or takes the database away.
func (p *postgres) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if p.managed != nil {
		return p.managed.Stop(ctx)
	}
	return p.exec(ctx, "drop database if exists "+pgx.Identifier{p.name}.Sanitize()+" with (force)")
}
