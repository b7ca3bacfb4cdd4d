package admin

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// keptCondition is requestFilter.matches as SQL.
	keptCondition = `
where ($1 = 0 or status >= $1)
and ($2 = 0 or status <= $2)
and ($3 = '' or method = $3)
and ($4 = '' or route = $4)
and ($5 = '' or ip = $5)
and duration_us >= $6
and ($7::timestamptz is null or at >= $7)
and ($8::timestamptz is null or at < $8)
and ($9 = '' or request_id = $9)
and ($10 = '' or role = $10)
and ($11 = '' or strpos(lower(path), $11) > 0 or lower(code) = $11 or lower(request_id) = $11)`

	keptPage = `
select id, at, duration_us, status, bytes, method, path, route, ip, role, request_id, code
from basalt.requests` + keptCondition + `
and ($12 = 0 or id < $12)
order by id desc
limit $13`

	keptSpan = `
select coalesce(extract(epoch from min(at)), 0)::bigint, coalesce(extract(epoch from max(at)), 0)::bigint, count(*)
from basalt.requests` + keptCondition

	keptBars = `
select
  extract(epoch from at)::bigint / $12 * $12,
  status / 100 * 100,
  count(*)
from basalt.requests` + keptCondition + `
group by 1, 2
order by 1`
)

// keptTimeout bounds the count over the whole table.
const keptTimeout = 10 * time.Second

// keptRequests fills in what the table holds.
func (d *Data) keptRequests(ctx context.Context, f *requestFilter, body *RequestLogBody) error {
	optional := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	condition := []any{f.least, f.most, f.method, f.route, f.ip, f.slower.Microseconds(), optional(f.since), optional(f.until), f.requestID, f.role, f.caseless}
	session := performanceSession()
	session.StatementTimeout = keptTimeout
	return d.pool.Use(ctx, session, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, keptPage, append(condition, int64(f.before), f.limit+1)...)
		if err != nil {
			return err
		}
		body.Requests, err = pgx.AppendRows(body.Requests, rows, keptEntry)
		if err != nil {
			return err
		}
		if len(body.Requests) > f.limit {
			body.Requests = body.Requests[:f.limit]
			body.Next = &body.Requests[f.limit-1].ID
		}
		if f.before > 0 {
			return nil
		}
		var first, last int64
		if err := conn.QueryRow(ctx, keptSpan, condition...).Scan(&first, &last, &body.Matched); err != nil || body.Matched == 0 {
			return err
		}
		body.Looked = body.Matched
		length := barLength(last - first + 1)
		first -= first % length
		body.Bars = make([]LogBarBody, (last-first)/length+1)
		for i := range body.Bars {
			body.Bars[i].At, body.Bars[i].Seconds = first+int64(i)*length, length
		}
		if rows, err = conn.Query(ctx, keptBars, append(condition, length)...); err != nil {
			return err
		}
		var at, count int64
		var status int
		_, err = pgx.ForEachRow(rows, []any{&at, &status, &count}, func() error {
			if i := (at - first) / length; i >= 0 && i < int64(len(body.Bars)) { // more may have come meanwhile
				body.Bars[i].count(status, count)
			}
			return nil
		})
		return err
	})
}

func keptEntry(row pgx.CollectableRow) (e RequestEntry, err error) {
	var id, microseconds int64
	err = row.Scan(&id, &e.At, &microseconds, &e.Status, &e.Bytes, &e.Method, &e.Path, &e.Route, &e.IP, &e.Role, &e.RequestID, &e.Code)
	e.ID, e.At, e.DurationMS = strconv.FormatInt(id, 10), e.At.UTC(), float64(microseconds)/1000
	return e, err
}
