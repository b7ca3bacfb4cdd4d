package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/seal"
)

// codeInterval is the least time between two codes to one telephone.
const codeInterval = time.Minute

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
	code := newCode()
	sealed, err := s.seal(ctx, code, codeCell(c.ID))
	if err != nil {
		return err
	}
	notBefore := c.ExpiresAt.Add(-challengeLife - codeInterval)
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		written, err := writeChallenge(ctx, tx, caller, u.ID, c, f, &sealed, &notBefore, nil)
		switch {
		case err != nil:
			return err
		case !written:
			return &Error{
				Code:       CodeOverSMSSendRateLimit,
				Message:    fmt.Sprintf("For security purposes, you can only request this after %d seconds.", int(codeInterval/time.Second)),
				RetryAfter: codeInterval,
			}
		}
		batch := &pgx.Batch{}
		if err := s.queueSMS(batch, SMS{To: f.Phone, UserID: u.ID, Code: code, Channel: channel, ExpiresAt: now().Add(challengeLife)}); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

// codeCell is where a code that was sent is kept.
func codeCell(challenge uuid.UUID) seal.Cell {
	return seal.Cell{Table: "auth.mfa_challenges", Row: challenge.String(), Column: "otp_code"}
}

// newCode draws a code of six digits.
func newCode() Secret {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return Secret(fmt.Sprintf("%06d", n))
}
