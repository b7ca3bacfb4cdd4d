package auth

import (
	"context"
	"math/rand/v2"
	"time"
)

// LinkOptions are the settings of the links and codes that are mailed and texted.
type LinkOptions struct {
	// MailLinkLife is how long the link in a mail is good, 0 is an hour; MailCodeLife the code beside it, 0 is ten
	// minutes; SMSCodeLife the code in a text message, 0 is a minute.
	MailLinkLife, MailCodeLife, SMSCodeLife time.Duration
	// MailCodeLength and SMSCodeLength are numbers of digits, MinCodeLength to MaxCodeLength; 0 is six.
	MailCodeLength, SMSCodeLength int
	// MailInterval and SMSInterval are the shortest time between two messages to one address; 0 is a minute.
	MailInterval, SMSInterval time.Duration
	// MailQuota and SMSQuota are how many messages may be sent in an hour; 0 is any number.
	MailQuota, SMSQuota int
	// OneSidedEmailChange lets the new address alone confirm a change; else the old one has to agree.
	OneSidedEmailChange bool
	// Reauthentication demands a nonce, sent by mail or text message, for a new password in a session that is older
	// than a day.
	Reauthentication bool
	// ConfirmPage shows a page with a button to whoever follows a link, so that programs which look at links in mails
	// do not use them up.
	ConfirmPage bool
	// Phone lets accounts have telephone numbers; PhoneAutoconfirm makes these good without a message.
	Phone, PhoneAutoconfirm bool
	// AnswerTime is when answers to whoever names an address leave, whatever there was to do: 0 is a tenth of a second
	// after the question, less than 0 at once. Up to a fifth of it is added by chance.
	AnswerTime time.Duration
}

// The bounds of the length of a code, in digits.
const (
	MinCodeLength = 6
	MaxCodeLength = 10
)

func (o LinkOptions) withDefaults() LinkOptions {
	for _, d := range []struct {
		value     *time.Duration
		otherwise time.Duration
	}{
		{&o.MailLinkLife, time.Hour},
		{&o.MailCodeLife, 10 * time.Minute},
		{&o.SMSCodeLife, time.Minute},
		{&o.MailInterval, time.Minute},
		{&o.SMSInterval, time.Minute},
		{&o.AnswerTime, 100 * time.Millisecond},
	} {
		if *d.value == 0 {
			*d.value = d.otherwise
		}
	}
	o.MailCodeLife = min(o.MailCodeLife, o.MailLinkLife)
	for _, length := range []*int{&o.MailCodeLength, &o.SMSCodeLength} {
		if *length == 0 {
			*length = MinCodeLength
		}
	}
	return o
}

// evenly runs work whose length tells whether an address is known, and gives its outcome when the time for it has
// come. Work that takes longer than that is the same statements for every address. The time is spread by chance: what a
// message that waits costs the moment after it is less than that by far.
func (s *Service) evenly(ctx context.Context, work func() error) error {
	wait := s.links.AnswerTime
	if wait > 0 {
		wait += rand.N(wait / 5)
	}
	leaves := time.NewTimer(wait)
	defer leaves.Stop()
	err := work()
	select {
	case <-leaves.C:
	case <-ctx.Done():
	}
	return err
}
