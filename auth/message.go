package auth

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// Verification is what a link or code is brought back for, by its name in the API.
type Verification string

// The kinds of verification. VerifyEmail is for codes of sign-ups and of sign-ins alike.
const (
	VerifySignUp      Verification = "signup"
	VerifyInvite      Verification = "invite"
	VerifyMagicLink   Verification = "magiclink"
	VerifyRecovery    Verification = "recovery"
	VerifyEmail       Verification = "email"
	VerifyEmailChange Verification = "email_change"
	VerifySMS         Verification = "sms"
	VerifyPhoneChange Verification = "phone_change"
)

// method is what a session says about a link that was exchanged for it (PKCE), by what the link was for.
func (v Verification) method() string {
	if v == VerifySignUp {
		return "email/signup"
	}
	return string(v)
}

// Return is how somebody who follows a link comes back to the app that asked for it.
type Return struct {
	// RedirectTo is where they are led if that is allowed, else the site.
	RedirectTo string
	// Challenge and ChallengeMethod are those of RFC 7636: the link ends in a code for who has the verifier.
	Challenge, ChallengeMethod string
}

// wayBack is a Return that has been read.
type wayBack struct {
	redirect  string
	challenge codeChallenge
}

func (s *Service) readReturn(in Return) (wayBack, *Error) {
	challenge, refusal := s.readChallenge(in.Challenge, in.ChallengeMethod)
	return wayBack{redirect: s.redirectTarget(in.RedirectTo), challenge: challenge}, refusal
}

// message is a mail or a text message with a one-time token in it.
type message struct {
	to   *User
	kind MailKind
	// purpose is what its link is for; a message without one has a code only.
	purpose Verification
	token   oneTime
	back    wayBack
	// channel is how a code is texted.
	channel string
	// forsake is set when the account that it goes to is to lose what it was made with, unless somebody has confirmed it.
	forsake bool
	// record is of an administrator who has it sent.
	record Record[*User]
}

// queueMessage adds a message to the batch that writes its token, and the beginning of the flow that its link ends.
func (s *Service) queueMessage(batch *pgx.Batch, m message, at time.Time) error {
	if isPhone(m.token.address) {
		return s.queueSMS(batch, SMS{
			To: m.token.address, UserID: m.to.ID, Code: m.token.code, Channel: m.channel, ExpiresAt: at.Add(s.links.SMSCodeLife),
		})
	}
	mail := Mail{
		Kind: m.kind, To: m.token.address, UserID: m.to.ID, Email: m.to.Email, Token: m.token.code,
		RedirectTo: m.back.redirect, Data: m.to.UserMetadata, ExpiresAt: at.Add(s.links.MailCodeLife),
	}
	if m.purpose != "" {
		s.queueReturn(batch, m.to.ID, m.purpose, m.back)
		mail.Link, mail.TokenHash = s.linkOf(m.purpose, m.token.link, m.back.redirect), m.token.link
		mail.ExpiresAt = at.Add(s.links.MailLinkLife)
	}
	return s.queueMail(batch, mail)
}

// queueReturn adds to a batch that the links of a user end in codes for the app that asked.
func (s *Service) queueReturn(batch *pgx.Batch, user uuid.UUID, purpose Verification, back wayBack) {
	if back.challenge.asked() {
		queueFlow(batch, flow{
			id: uuid.New(), challenge: back.challenge, provider: "email", method: purpose.method(), user: user, redirect: back.redirect,
		})
	}
}

// linkOf is where a mail leads: built from the settings, and of a request only by what redirectTarget lets pass.
func (s *Service) linkOf(purpose Verification, token Secret, redirect string) Secret {
	query := url.Values{}
	query.Set("token", token.Reveal())
	query.Set("type", string(purpose))
	query.Set("redirect_to", redirect)
	return Secret(s.options.Issuer + "/verify?" + query.Encode())
}

// intervalHit is for messages of one kind to one address.
func (s *Service) intervalHit(kind tokenKind, address string) limit.Hit {
	if isPhone(address) {
		return limit.Hit{Rule: limit.Rule{Name: "sms", Max: 1, Window: s.links.SMSInterval}, Of: string(kind) + " " + address}
	}
	return limit.Hit{Rule: limit.Rule{Name: "mail", Max: 1, Window: s.links.MailInterval}, Of: string(kind) + " " + address}
}

// tooSoon is the answer to who asks for a second message to one address.
func tooSoon(r *limit.Refusal) *Error {
	code := CodeOverEmailSendRateLimit
	if r.Rule.Name == "sms" {
		code = CodeOverSMSSendRateLimit
	}
	return &Error{
		Code:       code,
		Message:    fmt.Sprintf("For security purposes, you can only request this after %d seconds.", int(r.RetryAfter.Seconds())),
		RetryAfter: r.RetryAfter,
	}
}

// spend counts a message to an address against what the project may send in an hour.
func (s *Service) spend(ctx context.Context, caller Caller, address string) error {
	if s.options.Outbound == nil {
		return nil
	}
	mails, texts := s.options.Outbound.Ways()
	quota, sent, name, refused := s.links.MailQuota, mails, "mails", &Error{Code: CodeOverEmailSendRateLimit, Message: "email rate limit exceeded"}
	if isPhone(address) {
		quota, sent, name, refused = s.links.SMSQuota, texts, "texts", &Error{Code: CodeOverSMSSendRateLimit, Message: "SMS rate limit exceeded"}
	}
	if quota <= 0 || !sent { // what is kept costs nobody anything
		return nil
	}
	r, err := s.admit(ctx, caller, limit.Hit{Rule: limit.Rule{Name: name, Max: quota, Window: time.Hour}, Of: "project"})
	switch {
	case err != nil:
		return err
	case r != nil:
		refused.RetryAfter = r.RetryAfter
		return refused
	}
	return nil
}
