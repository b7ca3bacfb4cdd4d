package console

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"

	"basalt/store"
)

// Column is a column of a result.
type Column struct {
	Name string
	// Type is the name of its type as SQL spells it, with its modifier.
	Type string
	// Schema and Table are where its values come from, "" for those that are computed.
	Schema, Table string
	// Source is the name that it has there.
	Source string
}

// Sink takes what a statement gives. An error of its methods cancels the statement.
type Sink interface {
	// Columns is called once, before the rows, for a statement that gives some. The lines of a COPY TO STDOUT are rows
	// of one column.
	Columns([]Column) error
	// Row is called for each row, with PostgreSQL's text of each value, nil for NULL. They are valid until it returns.
	Row([][]byte) error
	// Notice is called for what PostgreSQL has to say.
	Notice(*pgproto3.NoticeResponse) error
}

// Result is how a statement ended.
type Result struct {
	Tag string
	// Rows are those that the sink was given.
	Rows int64
	// Truncated says that there were more.
	Truncated bool
}

// Run runs one statement and gives at most so many of its rows to a sink, of which none is held. A statement that
// changes something does all of it.
func Run(ctx context.Context, conn *pgx.Conn, sql string, most int, sink Sink) (Result, error) {
	columns, err := describe(ctx, conn, sql, sink)
	if err != nil {
		return Result{}, err
	}
	if columns != nil {
		if err := sink.Columns(columns); err != nil {
			return Result{}, err
		}
	}
	most = min(most, math.MaxInt32-1)
	var result Result
	row := func(values [][]byte) error {
		if result.Rows == int64(most) {
			result.Truncated = true
			return nil
		}
		result.Rows++
		return sink.Row(values)
	}
	x := exchange{pg: conn.PgConn(), sink: sink, take: func(message pgproto3.BackendMessage) error {
		switch message := message.(type) {
		case *pgproto3.CopyOutResponse:
			if message.OverallFormat != 0 {
				return errBinaryCopy
			}
			return sink.Columns([]Column{{Name: "copy", Type: "text"}})
		case *pgproto3.CopyData: // a line, as the server of PostgreSQL cuts them
			return row([][]byte{bytes.TrimSuffix(message.Data, []byte{'\n'})})
		case *pgproto3.DataRow:
			return row(message.Values)
		case *pgproto3.CommandComplete:
			result.Tag = string(message.CommandTag)
		}
		return nil
	}}
	frontend := x.pg.Frontend()
	frontend.SendParse(&pgproto3.Parse{Query: sql})
	frontend.SendBind(&pgproto3.Bind{})
	frontend.SendExecute(&pgproto3.Execute{MaxRows: uint32(most) + 1}) // one more tells whether there are more
	err = x.run(ctx)
	if result.Truncated && result.Tag == "" {
		result.Tag = "SELECT" // the portal was left before its end
	}
	return result, err
}

// errBinaryCopy refuses what no text can show.
var errBinaryCopy = &pgconn.PgError{Severity: "ERROR", Code: "0A000", Message: "COPY TO STDOUT in binary format cannot be shown", Hint: "Use the text or csv format"}

// describe gives the columns of a statement, nil when it has none.
func describe(ctx context.Context, conn *pgx.Conn, sql string, sink Sink) ([]Column, error) {
	var fields []field
	x := exchange{pg: conn.PgConn(), sink: sink, take: func(message pgproto3.BackendMessage) error {
		if described, ok := message.(*pgproto3.RowDescription); ok {
			fields = make([]field, len(described.Fields))
			for i, f := range described.Fields {
				fields[i] = field{string(f.Name), f.DataTypeOID, f.TypeModifier, f.TableOID, int16(f.TableAttributeNumber)}
			}
		}
		return nil
	}}
	frontend := x.pg.Frontend()
	frontend.SendParse(&pgproto3.Parse{Query: sql})
	frontend.SendDescribe(&pgproto3.Describe{ObjectType: 'S'})
	if err := x.run(ctx); err != nil || fields == nil {
		return nil, err
	}
	return name(ctx, conn, fields)
}

// field is a column as the protocol describes it.
type field struct {
	name      string
	typeOID   uint32
	modifier  int32
	table     uint32
	attribute int16
}

const fieldNames = `
select
  pg_catalog.format_type(f.type_oid, f.modifier),
  coalesce(n.nspname::text, ''),
  coalesce(c.relname::text, ''),
  coalesce(a.attname::text, '')
from unnest($1::oid[], $2::int4[], $3::oid[], $4::int2[]) with ordinality
  as f (type_oid, modifier, relation, attribute, place)
left join pg_catalog.pg_class c on c.oid = f.relation
left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join pg_catalog.pg_attribute a on a.attrelid = f.relation and a.attnum = f.attribute
order by f.place`

// name looks up what fields are called.
func name(ctx context.Context, conn *pgx.Conn, fields []field) ([]Column, error) {
	columns := make([]Column, len(fields))
	types, tables := make([]uint32, len(fields)), make([]uint32, len(fields))
	modifiers, attributes := make([]int32, len(fields)), make([]int16, len(fields))
	for i, f := range fields {
		types[i], modifiers[i], tables[i], attributes[i] = f.typeOID, f.modifier, f.table, f.attribute
	}
	rows, err := conn.Query(ctx, fieldNames, types, modifiers, tables, attributes)
	if err != nil {
		return nil, err
	}
	i, column := 0, Column{}
	_, err = pgx.ForEachRow(rows, []any{&column.Type, &column.Schema, &column.Table, &column.Source}, func() error {
		columns[i] = column
		columns[i].Name = fields[i].name
		i++
		return nil
	})
	return columns, err
}

// exchange is one round trip of messages that pgconn has no function for.
type exchange struct {
	pg   *pgconn.PgConn
	sink Sink
	take func(pgproto3.BackendMessage) error
}

// run sends what the frontend holds and takes the answers until PostgreSQL is ready for more.
func (x *exchange) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	watcher := ctxwatch.NewContextWatcher(canceller(x.pg))
	watcher.Watch(ctx)
	defer watcher.Unwatch()
	frontend := x.pg.Frontend()
	frontend.SendSync(&pgproto3.Sync{})
	if err := frontend.Flush(); err != nil {
		x.close()
		return err
	}
	var refusal, failure error // PostgreSQL's, and that of the sink
	for {
		message, err := x.pg.ReceiveMessage(context.Background()) // the watcher bounds it
		if err != nil {
			x.close()
			if wide, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok {
				return &store.RowTooLargeError{Bytes: wide.ActualBodyLen, Most: wide.MaxExpectedBodyLen}
			}
			return errors.Join(refusal, failure, context.Cause(ctx), err)
		}
		switch message := message.(type) {
		case *pgproto3.ReadyForQuery:
			if failure != nil {
				return failure
			}
			return refusal
		case *pgproto3.ErrorResponse:
			refusal = pgconn.ErrorResponseToPgError(message)
			continue
		case *pgproto3.NoticeResponse:
			if failure == nil {
				failure = x.sink.Notice(message)
			}
		default:
			if failure == nil {
				failure = x.take(message)
			}
		}
		if failure != nil {
			cancel(failure)
		}
	}
}

// close gives up a connection whose state is not known.
func (x *exchange) close() {
	ctx, stop := context.WithTimeout(context.Background(), cancelPatience)
	defer stop()
	_ = x.pg.Close(ctx) // whatever it says
}
