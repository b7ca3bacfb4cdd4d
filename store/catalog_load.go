package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/catalog"
)

//go:embed catalog_sql/*.sql
var catalogSQL embed.FS

// CatalogOptions says which schemas a catalog covers.
type CatalogOptions = catalog.Options

const (
	beginSnapshot = "begin isolation level repeatable read read only"

	// With an empty search_path every name outside of pg_catalog is spelled with its schema. Compiling these
	// queries would take longer than running them. A statement_timeout of the role is meant for requests.
	snapshotSettings = `
select pg_catalog.num_nulls(
  pg_catalog.set_config('search_path', '', true),
  pg_catalog.set_config('jit', 'off', true),
  pg_catalog.set_config('statement_timeout', '60s', true)
)`
)

// catalogQueries are the queries of one load, each with what takes its rows.
func catalogQueries(raw *catalog.Raw) []catalogQuery {
	return []catalogQuery{
		{"facts", func(r *rowReader) {
			raw.ServerVersion, raw.SetsResponse, raw.PostGIS = int(r.int32()), r.bool(), r.text()
		}},
		{"schemas", func(r *rowReader) {
			raw.Schemas = append(raw.Schemas, catalog.RawSchema{Name: r.text(), Comment: r.text()})
		}},
		{"relations", func(r *rowReader) {
			raw.Relations = append(raw.Relations, catalog.RawRelation{
				OID:     r.oid(),
				Name:    r.name(),
				Kind:    catalog.RelationKind(r.char()),
				RowType: r.oid(),
				Comment: r.text(),
				Events:  r.int32(),
				Parent:  r.bool(),
			})
		}},
		{"columns", func(r *rowReader) {
			raw.Columns = append(raw.Columns, catalog.RawColumn{
				Relation:  r.oid(),
				Number:    r.int16(),
				Name:      r.word(),
				Type:      r.oid(),
				TypeMod:   r.int32(),
				NotNull:   r.bool(),
				Default:   r.word(),
				Generated: r.bool(),
				Identity:  r.char(),
				Comment:   r.text(),
				Writable:  r.bool(),
			})
		}},
		{"keys", func(r *rowReader) {
			raw.Keys = append(raw.Keys, catalog.RawKey{
				Relation: r.oid(),
				Primary:  r.bool(),
				Columns:  r.int16s(),
			})
		}},
		{"foreign_keys", func(r *rowReader) {
			raw.ForeignKeys = append(raw.ForeignKeys, catalog.RawForeignKey{
				Name:        r.text(),
				From:        r.oid(),
				To:          r.oid(),
				FromColumns: r.int16s(),
				ToColumns:   r.int16s(),
			})
		}},
		{"views", func(r *rowReader) {
			catalog.ViewColumns(r.oid(), r.text(), func(c catalog.RawViewColumn) {
				raw.ViewColumns = append(raw.ViewColumns, c)
			})
		}},
		{"types", func(r *rowReader) {
			raw.Types = append(raw.Types, catalog.RawType{
				OID:      r.oid(),
				Name:     r.name(),
				Kind:     catalog.TypeKind(r.char()),
				Category: r.char(),
				SQL:      r.text(),
				Elem:     r.oid(),
				Base:     r.oid(),
				Array:    r.oid(),
				Relation: r.oid(),
				NotNull:  r.bool(),
				TypeMod:  r.int32(),
				Default:  r.text(),
			})
		}},
		{"labels", func(r *rowReader) {
			raw.Labels = append(raw.Labels, catalog.RawLabel{Type: r.oid(), Label: r.text()})
		}},
		{"casts", func(r *rowReader) {
			raw.Casts = append(raw.Casts, catalog.RawCast{Source: r.oid(), Target: r.oid(), Function: r.name()})
		}},
		{"routines", func(r *rowReader) {
			raw.Routines = append(raw.Routines, catalog.RawRoutine{
				OID:        r.oid(),
				Name:       r.name(),
				Comment:    r.text(),
				InTypes:    r.oids(),
				AllTypes:   r.oids(),
				Modes:      r.chars(),
				ArgNames:   r.words(),
				Defaults:   r.int16(),
				Variadic:   r.bool(),
				Volatility: catalog.Volatility(r.char()),
				Returns:    r.oid(),
				ReturnsSet: r.bool(),
				Rows:       r.float32(),
				Config:     r.words(),
			})
		}},
		{"handlers", func(r *rowReader) {
			raw.Handlers = append(raw.Handlers, catalog.RawHandler{
				OID:     r.oid(),
				Name:    r.name(),
				Row:     r.oid(),
				Returns: r.oid(),
			})
		}},
		{"roles", func(r *rowReader) {
			raw.Roles = append(raw.Roles, catalog.RawRole{Name: r.text(), Config: r.words()})
		}},
	}
}

// catalogQuery is one file of catalog_sql with what takes each of its rows.
type catalogQuery struct {
	file string
	take func(*rowReader)
}

// LoadCatalog reads the whole catalog in one round trip and one snapshot.
func LoadCatalog(
	ctx context.Context, conn *pgconn.PgConn, o CatalogOptions, version uint64,
) (*catalog.Catalog, error) {
	raw, _, err := readCatalog(ctx, conn, o, maphash.MakeSeed())
	if err != nil {
		return nil, err
	}
	built, err := catalog.Build(raw, version)
	if err != nil {
		return nil, fmt.Errorf("build catalog: %w", err)
	}
	return built, nil
}

// readCatalog reads the rows of a catalog and a digest of them, by which two loads can be compared.
func readCatalog(
	ctx context.Context, conn *pgconn.PgConn, o CatalogOptions, seed maphash.Seed,
) (raw catalog.Raw, digest uint64, err error) {
	raw.Options = o
	queries := catalogQueries(&raw)
	schemas, extra := []byte(textArray(o.Schemas)), []byte(textArray(o.ExtraSearchPath))

	pipeline := conn.StartPipeline(ctx)
	pipeline.SendQueryParams(beginSnapshot, nil, nil, nil, nil)
	pipeline.SendQueryParams(snapshotSettings, nil, nil, nil, nil)
	binary := []int16{1}
	for _, q := range queries {
		text, err := catalogSQL.ReadFile("catalog_sql/" + q.file + ".sql")
		if err != nil {
			return raw, 0, errors.Join(err, pipeline.Close())
		}
		params := [][]byte{schemas, extra}[:parameters(string(text))]
		pipeline.SendQueryParams(string(text), params, nil, nil, binary)
	}
	pipeline.SendQueryParams("commit", nil, nil, nil, nil)

	digest, err = takeCatalog(pipeline, queries, seed)
	if err := errors.Join(err, pipeline.Close()); err != nil {
		return raw, 0, fmt.Errorf("load catalog: %w", errors.Join(err, leaveTransaction(ctx, conn)))
	}
	return raw, digest, nil
}

// parameters counts the parameters of a query, which has at most two.
func parameters(text string) int {
	switch {
	case strings.Contains(text, "$2"):
		return 2
	case strings.Contains(text, "$1"):
		return 1
	default:
		return 0
	}
}

// takeCatalog hands the results of the pipeline to the queries that they answer.
func takeCatalog(pipeline *pgconn.Pipeline, queries []catalogQuery, seed maphash.Seed) (digest uint64, err error) {
	if err := pipeline.Sync(); err != nil {
		return 0, err
	}
	if err := skipResults(pipeline, 2); err != nil {
		return 0, err
	}
	reader := rowReader{interned: make(map[string]string)}
	var hash maphash.Hash
	hash.SetSeed(seed)
	for _, q := range queries {
		result, err := nextResult(pipeline)
		if err != nil {
			return 0, err
		}
		for result.NextRow() {
			reader.reset(result.Values())
			q.take(&reader)
			digest += rowDigest(&hash, q.file, reader.values)
		}
		if _, err := result.Close(); err != nil {
			return 0, fmt.Errorf("query %s: %w", q.file, err)
		}
		if reader.err != nil {
			return 0, fmt.Errorf("query %s: %w", q.file, reader.err)
		}
	}
	return digest, skipResults(pipeline, 1)
}

// nextResult gives the next query's result.
func nextResult(pipeline *pgconn.Pipeline) (*pgconn.ResultReader, error) {
	results, err := pipeline.GetResults()
	if err != nil {
		return nil, err
	}
	result, ok := results.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("unexpected %T in place of a result", results)
	}
	return result, nil
}

// skipResults passes over the results of commands.
func skipResults(pipeline *pgconn.Pipeline, n int) error {
	for range n {
		result, err := nextResult(pipeline)
		if err != nil {
			return err
		}
		if _, err := result.Close(); err != nil {
			return err
		}
	}
	return nil
}

// leaveTransaction ends the transaction that a failed load left open.
func leaveTransaction(ctx context.Context, conn *pgconn.PgConn) error {
	if conn.IsClosed() || conn.TxStatus() == 'I' {
		return nil
	}
	_, err := conn.Exec(ctx, "rollback").ReadAll()
	return err
}

// rowDigest is a number that differs for rows that differ. Those of all rows are added up, since the order of rows
// means nothing.
func rowDigest(hash *maphash.Hash, query string, values [][]byte) uint64 {
	hash.Reset()
	maphash.WriteComparable(hash, query)
	for _, value := range values {
		maphash.WriteComparable(hash, len(value))
		hash.Write(value)
	}
	return hash.Sum64()
}

// textArray writes the literal of a text[].
func textArray(elements []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, element := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(element))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
