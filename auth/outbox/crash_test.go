package outbox_test

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"basalt/auth/mail"
	"basalt/auth/mail/mailtest"
	"basalt/auth/outbox"
	"basalt/store/storetest"
)

// workerOver names the database of a process that a test starts to kill it; workerMail is its mail server.
const (
	workerOver = "BASALT_TEST_OUTBOX_DATABASE"
	workerMail = "BASALT_TEST_OUTBOX_MAIL"
)

// shortLease is a pace under which a message of a process that was killed is soon taken by another.
func shortLease() outbox.Pace {
	pace := quick()
	pace.Senders, pace.Timeout, pace.Lease = 1, 3*time.Second, 5*time.Second
	return pace
}

func TestMain(m *testing.M) {
	if url := os.Getenv(workerOver); url != "" {
		if err := work(url, os.Getenv(workerMail)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// work delivers messages until the process is killed.
func work(url, address string) error {
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		return err
	}
	templates, err := mail.LoadTemplates(nil, "en")
	if err != nil {
		return err
	}
	host, port, _ := strings.Cut(address, ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	server := mail.Server{Host: host, Port: number, Security: mail.NoTLS}
	mailer := mail.NewMailer(server, netmail.Address{Address: "no-reply@mail.example"}, "https://site.example", templates)
	box := outbox.New(pool, outbox.Options{Mail: mailer, Keys: keys, Pace: shortLease(), Log: zerolog.Nop()})
	return box.Run(context.Background())
}

func TestAProcessThatIsKilledWhileItSendsLosesNoMail(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	reached, release := make(chan struct{}), make(chan struct{})
	var first sync.Once
	server := mailtest.Start(t, mailtest.Options{Plain: true, Judge: func(mailtest.Received) error {
		refused := false
		first.Do(func() {
			close(reached)
			<-release // the sender is killed meanwhile
			refused = true
		})
		if refused {
			return &smtp.SMTPError{Code: 451, Message: "whoever has asked is not there any more"}
		}
		return nil
	}})
	mailer := mailerTo(t, server)
	waiting := outbox.New(db.Pool, outbox.Options{Mail: mailer, Keys: keys})
	const mails = 12
	for i := range mails {
		send(t, db, waiting, confirmation(fmt.Sprintf("user-%d@example.com", i)))
	}
	worker := exec.Command(os.Args[0])
	worker.Env = append(os.Environ(), workerOver+"="+db.URL, workerMail+"="+server.Address)
	worker.Stderr = os.Stderr
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-time.After(time.Minute):
		t.Error("the process sends nothing")
	}
	if err := worker.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = worker.Wait() // it gives the signal as an error
	close(release)
	start(t, db, outbox.Options{Mail: mailer})
	server.Wait(t, mails)
	empty(t, db)
	seen := map[string]int{}
	for _, got := range server.Received() {
		seen[got.To[0]]++
	}
	if len(seen) != mails || len(server.Received()) != mails {
		t.Errorf("%d mails for %d readers, not %d", len(server.Received()), len(seen), mails)
	}
}

func TestADeliveryUnderWayEndsBeforeItsProcess(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	reached, release := make(chan struct{}), make(chan struct{})
	var delivered atomic.Int32
	p := start(t, db, outbox.Options{Mail: deliverer(func(ctx context.Context, _ *outbox.Message) error {
		close(reached)
		select {
		case <-release:
		case <-ctx.Done():
			return ctx.Err()
		}
		delivered.Add(1)
		return nil
	})})
	send(t, db, p.Outbox, confirmation("ann@example.com"))
	<-reached
	stopped := make(chan struct{})
	go func() { p.stop(); close(stopped) }()
	close(release)
	<-stopped
	if delivered.Load() != 1 || count(t, db, "true") != 0 {
		t.Errorf("delivered %d, left %d", delivered.Load(), count(t, db, "true"))
	}
}

func TestADeliveryThatIsCutAtTheEndIsTriedByAnother(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	pace := quick()
	pace.Grace = time.Millisecond
	reached := make(chan struct{})
	p := start(t, db, outbox.Options{Pace: pace, Mail: deliverer(func(ctx context.Context, _ *outbox.Message) error {
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	})})
	send(t, db, p.Outbox, confirmation("ann@example.com"))
	<-reached
	ended := make(chan struct{})
	go func() { p.stop(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the process does not end")
	}
	// What the first one could note or not: either way the message is there, and another delivers it.
	db.Exec(t, `update basalt.outbox set due_at = now()`)
	var got atomic.Int32
	start(t, db, outbox.Options{Mail: deliverer(func(context.Context, *outbox.Message) error { got.Add(1); return nil })})
	empty(t, db)
	if got.Load() != 1 {
		t.Errorf("delivered %d times", got.Load())
	}
}

func TestWhoHasLostItsLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"after a delivery": nil, "after a failure": errors.New("not now"), "after a refusal": outbox.Refuse(errors.New("never"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.New(t)
			reached, release := make(chan struct{}), make(chan struct{})
			p := start(t, db, outbox.Options{Mail: deliverer(func(context.Context, *outbox.Message) error {
				close(reached)
				<-release
				return failure
			})})
			send(t, db, p.Outbox, confirmation("ann@example.com"))
			<-reached
			// Another process has taken the message, and goes on.
			db.Exec(t, `update basalt.outbox set attempts = attempts + 1`)
			close(release)
			p.stop()
			if n := count(t, db, "state = 'queued' and attempts = 2 and failure is null and due_at > now()"); n != 1 {
				t.Error("the other one's lease is gone")
			}
		})
	}
}

func TestOutcomesAreNotedWhenTheDatabaseComesBack(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	reached, release := make(chan struct{}), make(chan struct{})
	var delivered atomic.Int32
	p := start(t, db, outbox.Options{Mail: deliverer(func(context.Context, *outbox.Message) error {
		close(reached)
		<-release
		delivered.Add(1)
		return nil
	})})
	send(t, db, p.Outbox, confirmation("ann@example.com"))
	<-reached
	// The statement fails until the table has its name again.
	db.Exec(t, `alter table basalt.outbox rename to away`)
	close(release)
	until(t, "it is delivered", func() bool { return delivered.Load() == 1 })
	db.Exec(t, `alter table basalt.away rename to outbox`)
	empty(t, db)
	if delivered.Load() != 1 {
		t.Errorf("delivered %d times", delivered.Load())
	}
}
