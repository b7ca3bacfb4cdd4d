// Package floor is what a person would write by hand to answer a few requests as fast as Go and PostgreSQL allow: what
// Basalt is measured beside.
package floor

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/query/catalog"
	"basalt/query/pgjson"
)

// Statement is a request's SQL, known beforehand: nothing is parsed or planned.
type Statement struct {
	SQL string
	// Columns lay out the JSON of a row; nil: the one column of the one row is the whole answer.
	Columns *pgjson.Layout
	// Params are the statement's, in text.
	Params func(*http.Request) [][]byte
	// Writes says that the transaction is not read only and the answer 201 without a body.
	Writes bool

	once    sync.Once
	encoder *pgjson.Encoder
	failed  error
}

// Server answers by hand. All its requests run as one user.
type Server struct {
	Pool   *pgxpool.Pool
	Types  *catalog.Catalog
	Claims string      // of the user, as JSON
	Secret auth.Secret // that HS256 tokens are verified with
}

// The same settings that Basalt makes for each request, in one statement.
const (
	settingsSQL = `select num_nulls(set_config('transaction_read_only', $8, true),
  set_config('search_path', $1, true), set_config('request.jwt.claims', $2, true),
  set_config('request.method', $3, true), set_config('request.path', $4, true),
  set_config('request.headers', $5, true), set_config('request.cookies', $6, true), set_config('role', $7, true))`
	contentType = "application/json; charset=utf-8" // Basalt's
	headersJSON = `{"host":"127.0.0.1","user-agent":"Go-http-client/1.1","accept-encoding":"gzip"}`
)

// Settings are the parameters of the statement that sets who asks, for a request of a method.
func Settings(claims, method string, writes bool) [][]byte {
	readOnly := "on"
	if writes {
		readOnly = "off"
	}
	return [][]byte{
		[]byte(`"public", "extensions"`), []byte(claims), []byte(method), []byte("/bench_item"), []byte(headersJSON),
		nil, []byte("authenticated"), []byte(readOnly),
	}
}

// Handler answers with one statement in one flight.
func (s *Server) Handler(statement *Statement) echo.HandlerFunc {
	return func(c echo.Context) error {
		conn, err := s.Pool.Acquire(c.Request().Context())
		if err != nil {
			return err
		}
		defer conn.Release()
		body := make([]byte, 0, 512)
		if statement.Columns != nil {
			body = append(body, '[')
		}
		rows := 0
		body, err = Fly(c.Request().Context(), conn.Conn().PgConn(), statement.SQL, Settings(s.Claims, c.Request().Method, statement.Writes),
			statement.Params(c.Request()), body, func(dst []byte, fields []pgconn.FieldDescription, values [][]byte) ([]byte, error) {
				if statement.Columns == nil {
					return append(dst, values[0]...), nil
				}
				encoder, err := s.encoder(statement, fields)
				if err != nil {
					return dst, err
				}
				if rows++; rows > 1 {
					dst = append(dst, ',')
				}
				return encoder.AppendRow(dst, values)
			})
		if err != nil {
			return err
		}
		if statement.Writes {
			return c.NoContent(http.StatusCreated)
		}
		if statement.Columns != nil {
			body = append(body, ']')
		}
		return c.Blob(http.StatusOK, contentType, body)
	}
}

// encoder is made once the types of the columns are known.
func (s *Server) encoder(statement *Statement, fields []pgconn.FieldDescription) (*pgjson.Encoder, error) {
	statement.once.Do(func() {
		oids := make([]uint32, len(fields))
		for i, field := range fields {
			oids[i] = field.DataTypeOID
		}
		statement.encoder, statement.failed = pgjson.NewEncoder(statement.Columns, oids, s.Types, time.UTC, "postgres")
	})
	return statement.encoder, statement.failed
}

// Row takes one row of an answer in PostgreSQL's binary formats.
type Row func(dst []byte, fields []pgconn.FieldDescription, values [][]byte) ([]byte, error)

// Fly sends settings and statement in one flight, one transaction, both prepared once on the connection, and hands each
// row to row.
func Fly(ctx context.Context, pg *pgconn.PgConn, sql string, settings, params [][]byte, dst []byte, row Row) ([]byte, error) {
	first, err := prepared(ctx, pg, settingsSQL)
	if err != nil {
		return dst, err
	}
	second, err := prepared(ctx, pg, sql)
	if err != nil {
		return dst, err
	}
	pipeline := pg.StartPipeline(ctx)
	pipeline.SendQueryStatement(first, settings, nil, []int16{0})
	pipeline.SendQueryStatement(second, params, nil, []int16{1})
	if err := pipeline.Sync(); err != nil {
		return dst, errors.Join(err, pipeline.Close())
	}
	for step := range 2 {
		results, err := pipeline.GetResults()
		if err != nil {
			return dst, errors.Join(err, pipeline.Close())
		}
		reader := results.(*pgconn.ResultReader)
		for step == 1 && reader.NextRow() {
			if dst, err = row(dst, reader.FieldDescriptions(), reader.Values()); err != nil {
				return dst, errors.Join(err, pipeline.Close())
			}
		}
		if _, err := reader.Close(); err != nil {
			return dst, errors.Join(err, pipeline.Close())
		}
	}
	return dst, pipeline.Close()
}

func prepared(ctx context.Context, pg *pgconn.PgConn, sql string) (*pgconn.StatementDescription, error) {
	if known, ok := pg.CustomData()[sql].(*pgconn.StatementDescription); ok {
		return known, nil
	}
	name := "floor_" + string(rune('a'+len(pg.CustomData())))
	statement, err := pg.Prepare(ctx, name, sql, nil)
	if err != nil {
		return nil, err
	}
	pg.CustomData()[sql] = statement
	return statement, nil
}

// Columns lays out plain columns.
func Columns(names ...string) *pgjson.Layout {
	layout := &pgjson.Layout{}
	for _, name := range names {
		layout.Columns = append(layout.Columns, pgjson.NewColumn(name, pgjson.Scalar))
	}
	return layout
}

// Embedding lays out columns followed by a list of records.
func Embedding(layout *pgjson.Layout, name string, members *pgjson.Layout) *pgjson.Layout {
	layout.Columns = append(layout.Columns, pgjson.NewColumn(name, pgjson.Records, members.Columns...))
	return layout
}
