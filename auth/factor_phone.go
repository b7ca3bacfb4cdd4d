package auth

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/seal"
)

// The channels of text messages.
const (
	channelSMS      = "sms"
	channelWhatsApp = "whatsapp"
)

// sendChallenge writes a challenge with its code, which it queues to be sent.
func (s *Service) sendChallenge(ctx context.Context, caller Caller, u *User, f Factor, c *Challenge, channel string) error {
	switch channel {
	case "":
		channel = channelSMS
	case channelSMS, channelWhatsApp:
	default:
		return refuse(CodeValidationFailed, "Invalid channel, supported values are 'sms' or 'whatsapp'")
	}
	at := c.ExpiresAt.Add(-challengeLife)
	notBefore := at.Add(-s.links.SMSInterval)
	if f.LastChallengedAt != nil && f.LastChallengedAt.After(notBefore) {
		return nextText(f.LastChallengedAt.Sub(notBefore))
	}
	// The number is counted beside the factor: whoever enrolls it anew must not have it texted again.
	switch refusal, err := s.admit(ctx, caller, s.intervalHit(tokenKind(FactorPhone), u.ID.String()+" "+f.Phone)); {
	case err != nil:
		return err
	case refusal != nil:
		return tooSoon(refusal)
	}
	code, err := drawCode(s.links.SMSCodeLength)
	if err != nil {
		return err
	}
	sealed, err := s.seal(ctx, code, codeCell(c.ID))
	if err != nil {
		return err
	}
	if err := s.spend(ctx, caller, f.Phone); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		written, err := writeChallenge(ctx, tx, caller, u.ID, c, f, &sealed, &notBefore, nil)
		switch {
		case err != nil:
			return err
		case !written: // another was first
			return nextText(s.links.SMSInterval)
		}
		batch := &pgx.Batch{}
		if err := s.queueSMS(batch, SMS{To: f.Phone, UserID: u.ID, Code: code, Channel: channel, ExpiresAt: c.ExpiresAt}); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

// nextText is the answer to who asks for a second text message too soon.
func nextText(wait time.Duration) *Error {
	return tooSoon(&limit.Refusal{Rule: limit.Rule{Name: "sms"}, RetryAfter: (wait + time.Second - 1).Truncate(time.Second)})
}

// codeCell is where a code that was sent is kept.
func codeCell(challenge uuid.UUID) seal.Cell {
	return seal.Cell{Table: "auth.mfa_challenges", Row: challenge.String(), Column: "otp_code"}
}
