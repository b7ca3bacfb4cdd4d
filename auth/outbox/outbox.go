// Package outbox keeps messages to people in PostgreSQL until they are delivered.
package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"basalt/auth"
	"basalt/auth/seal"
)

// Bounds of what is kept.
const (
	// DefaultMost is how many messages may wait to be sent.
	DefaultMost = 10_000

	// mostKept is how many messages that cannot be sent are kept to be read, and keptFor how long.
	mostKept = 1000
	keptFor  = 7 * 24 * time.Hour

	// Lives of messages that tell no end of their own.
	mailLife = 24 * time.Hour
	smsLife  = 10 * time.Minute
)

// Deliverer hands messages over to whoever brings them to people: a mail server, a messenger, a hook. It gives nil only
// for a message that was taken over; other errors are tried again, but for those of Refuse.
type Deliverer interface {
	Deliver(context.Context, *Message) error
}

// Options say how messages get to people.
type Options struct {
	// Mail and SMS deliver; without one its messages are kept for an administrator to read. SetMail changes the first.
	Mail, SMS Deliverer
	// Together leaves a mail for both addresses of a change one message, as Supabase's send-email hook has it. Else each
	// address has a message of its own, that is tried again alone.
	Together bool
	// Keys seal the messages, and open what older ones have sealed.
	Keys seal.Masters
	// Most is how many messages may wait to be sent before what would send another is refused; 0 is DefaultMost.
	Most int
	// Pace is how deliveries follow each other.
	Pace Pace
	Log  zerolog.Logger
}

// Outbox keeps the messages of one database. It implements auth.Outbound.
type Outbox struct {
	pool    *pgxpool.Pool
	options Options
	log     zerolog.Logger
	mails   *lane
	texts   *lane
	counts  counts
	waiting waiting
}

var _ auth.Outbound = (*Outbox)(nil)

// New makes an outbox. Messages are delivered while Run runs, here or in another process.
func New(pool *pgxpool.Pool, o Options) *Outbox {
	if o.Most <= 0 {
		o.Most = DefaultMost
	}
	o.Pace.fill()
	box := &Outbox{pool: pool, options: o, log: o.Log}
	box.mails = newLane(box, []Channel{Email}, o.Mail)
	box.texts = newLane(box, []Channel{Text, WhatsApp}, o.SMS)
	return box
}

// SetMail puts who delivers mails in place of the one before; nil keeps them from now on. Deliveries under way end as they
// were begun.
func (o *Outbox) SetMail(d Deliverer) {
	o.mails.set(d)
}

// Run delivers messages until the context ends; deliveries under way may end then.
func (o *Outbox) Run(ctx context.Context) error {
	var group errgroup.Group
	for _, l := range []*lane{o.mails, o.texts} {
		group.Go(func() error { l.run(ctx); return nil })
	}
	group.Go(func() error { o.tidy(ctx); return nil })
	return group.Wait()
}

const (
	checkRoom = `
select basalt.check_outbox($1, $2)`

	queueMessage = `
insert into basalt.outbox (id, channel, kind, user_id, body, state, expires_at)
values ($1, $2, $3, $4, $5, 'queued', $6)`

	holdMessage = `
select basalt.hold_message($1, $2, $3, $4, $5, $6, $7)`
)

// QueueMail adds a mail to a batch.
func (o *Outbox) QueueMail(batch *pgx.Batch, m auth.Mail) error {
	if m.To == "" {
		o.mails.room(batch, auth.StateMailFull)
		return nil
	}
	mails := m.Parts()
	if o.options.Together {
		mails = []auth.Mail{m}
	}
	for _, one := range mails {
		message := &Message{Channel: Email, Kind: string(one.Kind), UserID: one.UserID, Mail: one, ExpiresAt: one.ExpiresAt}
		if err := o.mails.queue(batch, message, mailLife, auth.StateMailFull); err != nil {
			return err
		}
	}
	return nil
}

// kindOfSMS is what text messages are about.
const kindOfSMS = "otp"

// QueueSMS adds a text message to a batch.
func (o *Outbox) QueueSMS(batch *pgx.Batch, m auth.SMS) error {
	if m.To == "" {
		o.texts.room(batch, auth.StateSMSFull)
		return nil
	}
	channel := Channel(m.Channel)
	switch channel {
	case "":
		channel = Text
	case Text, WhatsApp:
	default:
		return fmt.Errorf("queue a text message: there is no channel %q", m.Channel)
	}
	message := &Message{Channel: channel, Kind: kindOfSMS, UserID: m.UserID, SMS: m, ExpiresAt: m.ExpiresAt}
	return o.texts.queue(batch, message, smsLife, auth.StateSMSFull)
}

// room adds the check that a message would be taken.
func (l *lane) room(batch *pgx.Batch, state string) {
	if l.deliverer() != nil {
		batch.Queue(checkRoom, l.box.options.Most, state)
	}
}

// queue adds a message to a batch: to be sent, or kept where there is nothing to send it with.
func (l *lane) queue(batch *pgx.Batch, m *Message, life time.Duration, state string) error {
	m.ID = uuid.New()
	if m.ExpiresAt.IsZero() {
		m.ExpiresAt = time.Now().Add(life)
	}
	keys, err := l.box.options.Keys()
	if err != nil {
		return fmt.Errorf("seal a message: %w", err)
	}
	body, err := m.seal(keys)
	if err != nil {
		return fmt.Errorf("seal a message: %w", err)
	}
	var owner *uuid.UUID
	if m.UserID != uuid.Nil {
		owner = &m.UserID
	}
	if l.deliverer() == nil {
		batch.Queue(holdMessage, m.ID, m.Channel, m.Kind, owner, body, m.ExpiresAt, mostKept).Exec(func(pgconn.CommandTag) error {
			l.box.line(l.box.log.Info(), m).Msg("a message waits in the outbox, as there is no way to send it: the dashboard shows it")
			return nil
		})
		return nil
	}
	l.room(batch, state)
	batch.Queue(queueMessage, m.ID, m.Channel, m.Kind, owner, body, m.ExpiresAt).Exec(func(pgconn.CommandTag) error {
		l.box.counts.queued.Add(1)
		l.awaken()
		return nil
	})
	return nil
}

// line tells of a message in the log without whom it is for and what is in it.
func (o *Outbox) line(event *zerolog.Event, m *Message) *zerolog.Event {
	event = event.Stringer("message_id", m.ID).Str("channel", string(m.Channel)).Str("kind", m.Kind)
	if m.UserID != uuid.Nil {
		event = event.Stringer("user_id", m.UserID)
	}
	return event
}
