package pgjson

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// changes gives the moments just before and at each change of a zone.
func changes(t *testing.T, name string, from, until time.Time) (moments [][]byte) {
	t.Helper()
	location, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := from.In(location); at.Before(until); {
		next, ok := nextChange(at)
		if !ok {
			break
		}
		micros := (next.Unix() - unixEpochSecs) * microsPerSec
		moments = append(moments, be64(micros-1), be64(micros), be64(micros+3600*microsPerSec-1))
		at = next
	}
	return moments
}

func TestTimestampsFollowEveryChangeOfAZone(t *testing.T) {
	conn := openDatabase(t)
	typ := sampleType{sql: "timestamptz", oid: 1184}
	for _, name := range []string{
		"UTC", "Asia/Kolkata", "America/New_York", "Africa/Monrovia", "Europe/Dublin", "Africa/Casablanca",
		"Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "Asia/Manila", "Antarctica/Troll",
		"Europe/Amsterdam", "America/Sao_Paulo", "EST5EDT", "GMT+0", "Etc/GMT-14",
		"<+05:30>-05:30", "<-03>+03", "FOO+5", "05:30",
		"CET-1CEST,M3.5.0,M10.5.0/3", "FOO5BAR,J60,J300", "FOO5BAR,60,300",
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			execute(t, conn, "set timezone = '"+name+"'")
			from := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)
			if strings.Contains(name, ",") {
				from = time.Unix(0, 0)
			}
			moments := changes(t, name, from, time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC))
			for range 300 {
				moment := anyMoment(r)
				if moment/microsPerSec+unixEpochSecs >= from.Unix() {
					moments = append(moments, be64(moment))
				}
			}
			compareValues(t, conn, &session{name, "postgres"}, typ, sharedHistory(t, conn, name, moments))
		})
	}
}

// sharedHistory leaves out the moments before 1970 when the server's zone files tell that time otherwise than those
// here: there are two editions, and PostgreSQL may bring its own files.
func sharedHistory(t *testing.T, conn *pgconn.PgConn, name string, moments [][]byte) [][]byte {
	t.Helper()
	location, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	var recent, old [][]byte
	for _, moment := range moments {
		if micros := int64(binary.BigEndian.Uint64(moment)); micros >= -unixEpochSecs*microsPerSec {
			recent = append(recent, moment)
		} else if micros >= earliestMicros {
			old = append(old, moment)
		}
	}
	result := binaryRows(t, conn, `
select v, extract(timezone from v)::int
from unnest($1::timestamptz[]) as given(v)`, flatArray(1184, old))
	for _, row := range result.Rows {
		micros := int64(binary.BigEndian.Uint64(row[0]))
		_, want := time.Unix(floorDiv(micros, microsPerSec)+unixEpochSecs, 0).In(location).Zone()
		if int32(want) != int32(binary.BigEndian.Uint32(row[1])) {
			return recent
		}
	}
	return moments
}

func TestLoadZoneKnowsWhatPostgreSQLReports(t *testing.T) {
	conn := openDatabase(t)
	for _, set := range []string{
		"time zone '-3'", "time zone 5.5", "time zone 5.51", "time zone -7", "timezone = '05:30'", "timezone = '-3'",
		"time zone interval '05:30' hour to minute", "time zone interval '-11:45' hour to minute",
		"timezone = 'asia/kolkata'", "timezone = 'utc'", "timezone = 'UTC+3'", "timezone = 'J5'", "timezone = '<x>5'",
		"timezone = 'foo5bar'", "timezone = 'FOO25'", "timezone = 'EST'", "timezone = 'posix/Europe/Paris'",
		"timezone = 'CET-1CEST-3,M3.5.0/-2,M10.5.0/3:30'", "timezone = 'foo5:30bar'", "timezone = '+05:30'",
	} {
		t.Run(set, func(t *testing.T) {
			_, err := conn.Exec(context.Background(), "set "+set).ReadAll()
			if err != nil && strings.Contains(set, "posix/") {
				t.Skip("the server's zone files have no folder posix")
			}
			if err != nil {
				t.Fatal(err)
			}
			name := text(t, conn, "show timezone")
			var moments [][]byte
			for month := range int64(24) { // from the epoch on
				moments = append(moments, be64((month*30+9000)*microsPerDay))
			}
			compareValues(t, conn, &session{name, "postgres"}, sampleType{sql: "timestamptz", oid: 1184}, moments)
		})
	}
}

func TestLoadZoneRefusesWhatIsNoZone(t *testing.T) {
	for _, name := range []string{"", "Local", "Nowhere", "../etc/passwd", "<+05", "<+05>", "A5:99", "A200", "A5-", "A5:",
		"A5:30:30:30", "A5B,M13.1.1", "A5B,nonsense", "A5B,M3.2.0,M11.1.0,M1.1.1", "A--5"} {
		if zone, err := LoadZone(name); !errors.As(err, new(*ZoneError)) {
			t.Errorf("%q: zone %v, error %v", name, zone, err)
		}
	}
}

func TestAZoneServesManyGoroutines(t *testing.T) {
	location, err := LoadZone("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	z := newZone(location)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for year := 1850; year < 2100; year++ {
				at := time.Date(year, 7, 1, 0, 0, 0, 0, location)
				if _, want := at.Zone(); z.offset(at.Unix()) != int32(want) {
					t.Errorf("offset in %d: %d, want %d", year, z.offset(at.Unix()), want)
				}
			}
		})
	}
	group.Wait()
}
