package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/mail"
	"basalt/auth/mail/mailtest"
	"basalt/auth/outbox"
	"basalt/auth/seal"
	"basalt/store/storetest"
)

// logBuffer keeps what is logged at every level.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func keys() (seal.Ring, error) { return seal.Ring{seal.Derive("a secret of the tests", "outbox")}, nil }

// quick is a pace for tests: nothing waits for long.
func quick() outbox.Pace {
	return outbox.Pace{
		Poll: 20 * time.Millisecond, FirstRetry: 5 * time.Millisecond, LastRetry: 50 * time.Millisecond,
		Timeout: 20 * time.Second, Grace: 20 * time.Second, Attempts: 1_000_000,
	}
}

// process is one of several over a database.
type process struct {
	*outbox.Outbox
	log  *logBuffer
	stop func()
}

func start(t *testing.T, db *storetest.Database, o outbox.Options) *process {
	t.Helper()
	p := &process{log: &logBuffer{}}
	o.Log = zerolog.New(p.log)
	if o.Keys == nil {
		o.Keys = keys
	}
	if o.Pace == (outbox.Pace{}) {
		o.Pace = quick()
	}
	p.Outbox = outbox.New(db.Pool, o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the outbox ended: %v", err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

func mailerTo(t *testing.T, server *mailtest.Server) *mail.Mailer {
	t.Helper()
	templates, err := mail.LoadTemplates(nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	return mail.NewMailer(server.Mail(t), netmail.Address{Address: "no-reply@mail.example"}, "https://site.example", templates)
}

const secretToken = "pt-a-token-that-nobody-may-see"

func confirmation(to string) auth.Mail {
	return auth.Mail{
		Kind: auth.MailConfirmation, To: to, UserID: uuid.New(), Token: "918273", TokenHash: "0a1b2c3d4e5f-hash",
		Link: "https://api.example/auth/v1/verify?token=" + secretToken,
	}
}

// send queues mails in a transaction of their own.
func send(t testing.TB, db *storetest.Database, box *outbox.Outbox, mails ...auth.Mail) {
	t.Helper()
	if err := trySend(db, box, mails...); err != nil {
		t.Fatal(err)
	}
}

func trySend(db *storetest.Database, box *outbox.Outbox, mails ...auth.Mail) error {
	batch := &pgx.Batch{}
	for _, m := range mails {
		if err := box.QueueMail(batch, m); err != nil {
			return err
		}
	}
	return db.Pool.SendBatch(context.Background(), batch).Close()
}

func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func count(t testing.TB, db *storetest.Database, where string) int {
	t.Helper()
	var n int
	if err := db.Pool.QueryRow(context.Background(), `select count(*) from basalt.outbox where `+where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func empty(t testing.TB, db *storetest.Database) {
	t.Helper()
	until(t, "the outbox is empty", func() bool { return count(t, db, "true") == 0 })
}

// deliverer is a way that a test controls.
type deliverer func(context.Context, *outbox.Message) error

func (d deliverer) Deliver(ctx context.Context, m *outbox.Message) error { return d(ctx, m) }

func TestAMailIsSentOnceItsTransactionHasCommitted(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	server := mailtest.Start(t, mailtest.Options{})
	p := start(t, db, outbox.Options{Mail: mailerTo(t, server)})
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batch := &pgx.Batch{}
	if err := p.QueueMail(batch, confirmation("rolled-back@example.com")); err != nil {
		t.Fatal(err)
	}
	if err := tx.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	send(t, db, p.Outbox, confirmation("committed@example.com"))
	got := server.Wait(t, 1)
	empty(t, db)
	if len(server.Received()) != 1 || got[0].To[0] != "committed@example.com" {
		t.Errorf("%d mails have arrived, the first one for %v", len(server.Received()), got[0].To)
	}
	if text := got[0].Body(t, "text/plain"); !strings.Contains(text, secretToken) || !strings.Contains(text, "918273") {
		t.Errorf("link or code got lost: %s", text)
	}
}

func TestAProcessSendsWhatAnotherHasLeft(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	server := mailtest.Start(t, mailtest.Options{})
	never := outbox.New(db.Pool, outbox.Options{Mail: mailerTo(t, server), Keys: keys})
	send(t, db, never, confirmation("ann@example.com")) // it never runs
	start(t, db, outbox.Options{Mail: mailerTo(t, server)})
	server.Wait(t, 1)
	empty(t, db)
}

func TestSeveralProcessesSendEachMailOnce(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	server := mailtest.Start(t, mailtest.Options{})
	const processes, each = 3, 40
	boxes := make([]*process, processes)
	for i := range boxes {
		boxes[i] = start(t, db, outbox.Options{Mail: mailerTo(t, server)})
	}
	var group sync.WaitGroup
	for i, p := range boxes {
		for n := range each {
			group.Go(func() {
				if err := trySend(db, p.Outbox, confirmation(fmt.Sprintf("user-%d-%d@example.com", i, n))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	empty(t, db)
	for _, p := range boxes {
		p.stop()
	}
	seen := map[string]int{}
	for _, got := range server.Received() {
		seen[got.To[0]]++
	}
	if len(seen) != processes*each || len(server.Received()) != processes*each {
		t.Errorf("%d mails for %d readers, not %d", len(server.Received()), len(seen), processes*each)
	}
}

func TestMailsWaitForAServerThatIsDown(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	first := mailtest.Start(t, mailtest.Options{Plain: true})
	m := mailerTo(t, first)
	first.Stop()
	p := start(t, db, outbox.Options{Mail: m})
	for i := range 10 {
		send(t, db, p.Outbox, confirmation(fmt.Sprintf("user-%d@example.com", i)))
	}
	until(t, "delivery has been tried several times", func() bool { return count(t, db, "attempts > 2") > 0 })
	second := mailtest.Start(t, mailtest.Options{Plain: true, Address: first.Address})
	second.Wait(t, 10)
	empty(t, db)
	if n := len(second.Received()); n != 10 {
		t.Errorf("%d mails have arrived", n)
	}
	text := p.log.String()
	if n := strings.Count(text, "messages cannot be delivered now"); n != 1 {
		t.Errorf("the outage is told of %d times", n)
	}
	if !strings.Contains(text, "messages are delivered again") {
		t.Error("the end of the outage is not told of")
	}
}

func TestAMailThatIsRefusedIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	server := mailtest.Start(t, mailtest.Options{Recipient: func(to string) error {
		if strings.HasPrefix(to, "nobody") {
			return &smtp.SMTPError{Code: 550, Message: "there is no " + to + ", so no " + secretToken + " and no 918273 for it"}
		}
		return nil
	}})
	p := start(t, db, outbox.Options{Mail: mailerTo(t, server)})
	send(t, db, p.Outbox, confirmation("nobody@example.com"), confirmation("ann@example.com"))
	until(t, "one is given up and the other one gone", func() bool {
		return count(t, db, "state = 'failed' and attempts = 1") == 1 && count(t, db, "true") == 1
	})
	entries, err := p.List(t.Context(), 10)
	if err != nil || len(entries) != 1 || entries[0].Mail.To != "nobody@example.com" || !strings.Contains(entries[0].Failure, "550") {
		t.Errorf("%+v (%v)", entries, err)
	}
	text := p.log.String()
	if !strings.Contains(text, `"level":"error"`) || !strings.Contains(text, "a message was given up") {
		t.Errorf("nobody is told: %s", text)
	}
	for _, secret := range []string{secretToken, "918273", "0a1b2c3d4e5f-hash", "nobody@example.com"} {
		if strings.Contains(text+entries[0].Failure, secret) {
			t.Errorf("%s is in the log: %s", secret, text)
		}
	}
}

func TestAMailIsGivenUpAfterSoManyAttemptsOrWhenItHasExpired(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var tried atomic.Int32
	pace := quick()
	pace.Attempts = 3
	p := start(t, db, outbox.Options{Pace: pace, Mail: deliverer(func(context.Context, *outbox.Message) error {
		tried.Add(1)
		return errors.New("not now")
	})})
	send(t, db, p.Outbox, confirmation("ann@example.com"))
	until(t, "it is given up", func() bool { return count(t, db, "state = 'failed'") == 1 })
	if n := tried.Load(); n != 3 {
		t.Errorf("it was tried %d times", n)
	}
	late := confirmation("late@example.com")
	late.ExpiresAt = time.Now().Add(-time.Second)
	send(t, db, p.Outbox, late)
	until(t, "the late one is given up", func() bool { return count(t, db, "state = 'failed'") == 2 })
	if n := tried.Load(); n != 3 {
		t.Error("an expired mail was delivered")
	}
}

func TestAFullOutboxRefuses(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	hanging := deliverer(func(ctx context.Context, _ *outbox.Message) error { return errors.New("not now") })
	box := outbox.New(db.Pool, outbox.Options{Mail: hanging, SMS: hanging, Keys: keys, Most: 3})
	send(t, db, box, confirmation("a@example.com"), confirmation("b@example.com"))
	nobody := auth.Mail{Kind: auth.MailConfirmation}
	send(t, db, box, nobody)
	send(t, db, box, confirmation("c@example.com"))
	for name, m := range map[string]auth.Mail{"a mail": confirmation("d@example.com"), "a mail to nobody": nobody} {
		var refusal *pgconn.PgError
		if err := trySend(db, box, m); !errors.As(err, &refusal) || refusal.Code != auth.StateMailFull {
			t.Errorf("%s: %v", name, err)
		}
	}
	batch := &pgx.Batch{}
	if err := box.QueueSMS(batch, auth.SMS{To: "15550100", Code: "123456"}); err != nil {
		t.Fatal(err)
	}
	var refusal *pgconn.PgError
	if err := db.Pool.SendBatch(t.Context(), batch).Close(); !errors.As(err, &refusal) || refusal.Code != auth.StateSMSFull {
		t.Errorf("a text message: %v", err)
	}
	if n := count(t, db, "true"); n != 3 {
		t.Errorf("%d messages are there", n)
	}
}

func TestWithoutAWayToSendMessagesAreKeptToBeRead(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	p := start(t, db, outbox.Options{})
	m := confirmation("ann@example.com")
	m.RedirectTo, m.NewEmail = "https://site.example/welcome", "new@example.com"
	send(t, db, p.Outbox, m)
	batch := &pgx.Batch{}
	code := auth.SMS{To: "15550100", Code: "314159", Channel: "whatsapp", UserID: m.UserID}
	if err := p.QueueSMS(batch, code); err != nil {
		t.Fatal(err)
	}
	if err := db.Pool.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := p.List(t.Context(), 10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%+v (%v)", entries, err)
	}
	text, message := entries[0], entries[1]
	if message.State != outbox.Held || message.Mail.Link != m.Link || message.Mail.Token != m.Token || message.Mail.TokenHash != m.TokenHash ||
		message.Mail.To != m.To || message.Mail.RedirectTo != m.RedirectTo || message.UserID != m.UserID || message.Mail.NewEmail != m.NewEmail {
		t.Errorf("the mail is %+v", message)
	}
	if text.State != outbox.Held || text.Channel != outbox.WhatsApp || text.SMS.Code != code.Code || text.SMS.To != code.To {
		t.Errorf("the text message is %+v", text)
	}
	log := p.log.String()
	if n := strings.Count(log, "a message waits in the outbox"); n != 2 || !strings.Contains(log, message.ID.String()) {
		t.Errorf("it is told of %d times: %s", n, log)
	}
	for _, secret := range []string{secretToken, "918273", "0a1b2c3d4e5f-hash", "314159", "ann@example.com", "15550100"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if found, err := p.Remove(t.Context(), tx, text.ID); err != nil || !found {
		t.Errorf("%t (%v)", found, err)
	}
	if found, err := p.Remove(t.Context(), tx, text.ID); err != nil || found {
		t.Errorf("removed twice: %t (%v)", found, err)
	}
	if n, err := p.RemoveKept(t.Context(), tx); err != nil || n != 1 {
		t.Errorf("%d (%v)", n, err)
	}
}

func TestOfKeptMessagesTheNewestStay(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	box := outbox.New(db.Pool, outbox.Options{Keys: keys})
	db.Exec(t, `
insert into basalt.outbox (id, channel, kind, body, state, created_at, expires_at)
select gen_random_uuid(), 'email', 'signup', 'old', 'held', now() - interval '1 hour' - n * interval '1 second', now()
from generate_series(1, 1050) as n`)
	send(t, db, box, confirmation("ann@example.com"))
	if n := count(t, db, "true"); n != 1000 {
		t.Errorf("%d are kept", n)
	}
	if n := count(t, db, "body <> 'old'"); n != 1 {
		t.Error("the newest one is gone")
	}
	db.Exec(t, `update basalt.outbox set created_at = now() - interval '8 days' where body = 'old'`)
	start(t, db, outbox.Options{})
	until(t, "what is too old is gone", func() bool { return count(t, db, "true") == 1 })
}

func TestWhatNoProcessDeliversIsGivenUp(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	box := outbox.New(db.Pool, outbox.Options{Keys: keys, Mail: deliverer(func(context.Context, *outbox.Message) error { return nil })})
	send(t, db, box, confirmation("ann@example.com"))
	db.Exec(t, `update basalt.outbox set expires_at = now() - interval '2 minutes'`)
	p := start(t, db, outbox.Options{})
	until(t, "it is given up", func() bool { return count(t, db, "state = 'failed'") == 1 })
	until(t, "a person is told", func() bool { return strings.Contains(p.log.String(), "nobody has delivered it in time") })
}

func TestMessagesAreSealed(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	box := outbox.New(db.Pool, outbox.Options{Keys: keys})
	m := confirmation("ann@example.com")
	send(t, db, box, m, confirmation("bob@example.com"))
	var all string
	if err := db.Pool.QueryRow(t.Context(), `select string_agg(o::text, ' ') from basalt.outbox as o`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{secretToken, "918273", m.TokenHash.Reveal(), "ann@example.com"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s stands in the table", secret)
		}
	}
	// A body that is moved to another message does not open there.
	db.Exec(t, `update basalt.outbox set body = (select o.body from basalt.outbox as o order by o.id limit 1)`)
	entries, err := box.List(t.Context(), 10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v (%v)", entries, err)
	}
	if entries[0].Unreadable == entries[1].Unreadable {
		t.Errorf("%+v", entries)
	}
	for _, role := range []string{"anon", "authenticated", "service_role"} {
		tx, err := db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{`set local role ` + role, `select count(*) from basalt.outbox`} {
			if _, err = tx.Exec(t.Context(), sql); err != nil {
				break
			}
		}
		if err == nil {
			t.Errorf("%s reads the outbox", role)
		}
		_ = tx.Rollback(t.Context())
	}
}

func TestAMessageUnderALostKeyIsGivenUp(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	other := func() (seal.Ring, error) { return seal.Ring{seal.Derive("another secret", "outbox")}, nil }
	var delivered atomic.Int32
	deliver := deliverer(func(context.Context, *outbox.Message) error { delivered.Add(1); return nil })
	box := outbox.New(db.Pool, outbox.Options{Mail: deliver, Keys: other})
	send(t, db, box, confirmation("ann@example.com"))
	p := start(t, db, outbox.Options{Mail: deliver})
	until(t, "it is given up", func() bool { return count(t, db, "state = 'failed'") == 1 })
	if delivered.Load() != 0 || !strings.Contains(p.log.String(), "under a key that is not known here") {
		t.Errorf("delivered %d, %s", delivered.Load(), p.log.String())
	}
}

func TestAnAddressChangeIsTwoMessagesUnlessOneIsWanted(t *testing.T) {
	t.Parallel()
	m := auth.Mail{Kind: auth.MailEmailChange, To: "old@example.com", NewEmail: "new@example.com", Token: "1", TokenHash: "h1", Link: "l1", TokenNew: "2", TokenHashNew: "h2", LinkNew: "l2"}
	for _, together := range []bool{false, true} {
		db := storetest.New(t)
		var mu sync.Mutex
		var got []auth.Mail
		p := start(t, db, outbox.Options{Together: together, Mail: deliverer(func(_ context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, m.Mail)
			return nil
		})})
		send(t, db, p.Outbox, m)
		empty(t, db)
		p.stop()
		if together && (len(got) != 1 || got[0].TokenNew != "2" || got[0].Token != "1" || got[0].LinkNew != "l2") {
			t.Errorf("together it is %+v", got)
		}
		if !together {
			if len(got) != 2 {
				t.Fatalf("%d messages", len(got))
			}
			for _, part := range got {
				old := part.To == "old@example.com"
				if part.TokenNew != "" || part.Email != "old@example.com" || (part.Token == "1") != old || (part.TokenHash == "h1") != old || (part.Link == "l1") != old {
					t.Errorf("%+v", part)
				}
			}
		}
	}
}
