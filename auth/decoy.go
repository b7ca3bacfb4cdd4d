package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/auth/password"
)

const (
	// surveyPasswords counts the kinds of hashes in a thousand pages of accounts at most, once an hour. The same pages
	// are read each time, so that shares change only as accounts do.
	surveyPasswords = `
update basalt.password_survey
set taken_at = now(),
    decoys = (
        select coalesce(jsonb_object_agg(decoy, accounts), '{}')
        from (
            select decoy, count(*) as accounts
            from (
                select case
                        when encrypted_password like '$2%' then left(encrypted_password, 7) || repeat('.', 53)
                        else regexp_replace(encrypted_password, '\$[^$]*\$[^$]*$', '') ||
                            regexp_replace(translate(substring(encrypted_password from '\$[^$]*\$[^$]*$'), '=', ''), '[^$]', 'A', 'g')
                    end
                from auth.users
                    tablesample system ((select least(100, 100.0 * 1000 * 8192 / greatest(pg_relation_size('auth.users'), 1)))) repeatable (0)
                where encrypted_password <> ''
                and deleted_at is null
            ) as hashes (decoy)
            where decoy is not null
            group by decoy
            order by accounts desc, decoy
            limit 16
        ) as kinds
    )
where taken_at < now() - interval '1 hour'`

	readSurvey = `
select decoys
from basalt.password_survey`

	// renewSurvey has it taken anew at the next sign-in.
	renewSurvey = `
update basalt.password_survey
set taken_at = '-infinity'`

	// surveyLife is how long a process goes by what it has read.
	surveyLife = 5 * time.Minute
)

// decoys are hashes that are computed where there is no account: an address that nobody has takes as long to be refused
// as it would if its account had come with the others. Which kind of hash it takes is the same at each try; over many
// addresses each kind is taken as often as accounts have it. When accounts move on to another kind as their owners sign
// in, so do as many addresses that are nobody's, and none moves back.
type decoys struct {
	key []byte
	// own is the hash for new accounts, which is taken while nothing is known.
	own string

	mu     sync.Mutex
	due    time.Time
	weight map[string]float64
}

func newDecoys(secret, own string) *decoys {
	key := hmac.New(sha256.New, []byte(secret))
	key.Write([]byte("basalt sign-in decoys"))
	return &decoys{key: key.Sum(nil), own: own}
}

// queue adds the reading of the survey to a batch, when it is due. It must come first there: what takes the survey holds
// its row to the end of the batch.
func (d *decoys) queue(batch *pgx.Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := time.Now()
	if at.Before(d.due) {
		return
	}
	if d.weight != nil {
		d.due = at.Add(surveyLife)
	}
	batch.Queue(surveyPasswords)
	batch.Queue(readSurvey).QueryRow(func(found pgx.Row) error {
		var text []byte
		if err := found.Scan(&text); err != nil {
			return err
		}
		return d.take(text)
	})
}

// take reads a survey: decoys with how many accounts they stand for. What is no hash that could be computed stands for
// accounts that cannot sign in.
func (d *decoys) take(text []byte) error {
	var accounts map[string]float64
	if err := json.Unmarshal(text, &accounts); err != nil {
		return fmt.Errorf("read the survey of passwords: %w", err)
	}
	weight := map[string]float64{}
	for decoy, n := range accounts {
		if n > 0 && password.Readable(decoy) {
			weight[decoy] = n
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.weight, d.due = weight, time.Now().Add(surveyLife)
	return nil
}

// of gives the hash for an address that has none. It is weighted rendezvous hashing: a kind that gets more accounts takes
// addresses from the others, and nothing else changes.
func (d *decoys) of(address string) string {
	d.mu.Lock()
	weight := d.weight
	d.mu.Unlock()
	best, least := d.own, math.Inf(1)
	for decoy, accounts := range weight {
		digest := hmac.New(sha256.New, d.key)
		digest.Write([]byte(decoy))
		digest.Write([]byte{0})
		digest.Write([]byte(address))
		uniform := (float64(binary.BigEndian.Uint64(digest.Sum(nil))>>11) + 0.5) / (1 << 53)
		if score := -math.Log(uniform) / accounts; score < least {
			best, least = decoy, score
		}
	}
	return best
}

// ForgetPasswordSurvey has the kinds of hashes that accounts have counted anew: for who has brought accounts.
func ForgetPasswordSurvey(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, renewSurvey)
	return err
}
