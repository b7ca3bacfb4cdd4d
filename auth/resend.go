package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Resend is what somebody says who waits for a message.
type Resend struct {
	Type         Verification
	Email, Phone string
	Return
}

const (
	// userMovingTo also finds an account by the address that it waits to have.
	userMovingTo = `
select` + userColumns + `
from auth.users u
where u.id = (
    select id
    from (
        select id, true as own
        from auth.users
        where email = $1
        and not is_sso_user
        union all
        select user_id, false
        from auth.one_time_tokens
        where relates_to = $1
        and token_type = 'email_change_token_new'
    ) as found
    order by own desc
    limit 1
)
and u.deleted_at is null`

	userMovingToPhone = `
select` + userColumns + `
from auth.users u
where u.id = (
    select id
    from (
        select id, true as own
        from auth.users
        where phone = $1
        union all
        select user_id, false
        from auth.one_time_tokens
        where relates_to = $1
        and token_type = 'phone_change_token'
    ) as found
    order by own desc
    limit 1
)
and u.deleted_at is null`
)

// Resend sends once more what an account waits for, if it does.
func (s *Service) Resend(ctx context.Context, caller Caller, in Resend, record Record[*User]) error {
	user, err := s.resend(ctx, caller, in, record)
	s.event(caller, "resend", user, err)
	return err
}

func (s *Service) resend(ctx context.Context, caller Caller, in Resend, record Record[*User]) (uuid.UUID, error) {
	kind, statement := tokenConfirmation, userByEmail
	switch in.Type {
	case VerifySignUp:
	case VerifyEmailChange:
		kind, statement = tokenEmailChangeNew, userMovingTo
	case VerifySMS:
		statement = userByPhone
	case VerifyPhoneChange:
		kind, statement = tokenPhoneChange, userMovingToPhone
	default:
		return uuid.Nil, refuse(CodeValidationFailed, "Missing one of these types: signup, email_change, sms, phone_change")
	}
	texted := in.Type == VerifySMS || in.Type == VerifyPhoneChange
	switch {
	case in.Email != "" && in.Phone != "":
		return uuid.Nil, refuse(CodeValidationFailed, "Only an email address or phone number should be provided.")
	case in.Email == "" && in.Phone == "":
		return uuid.Nil, refuse(CodeValidationFailed, "Missing email address or phone number")
	case texted && in.Phone == "":
		return uuid.Nil, refuse(CodeValidationFailed, "Type provided requires a phone number")
	case !texted && in.Email == "":
		return uuid.Nil, refuse(CodeValidationFailed, "Type provided requires an email address")
	}
	address, refusal := s.addressOf(in.Email, in.Phone, "")
	if refusal != nil {
		return uuid.Nil, refusal
	}
	back, refusal := s.readReturn(in.Return)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	var id uuid.UUID
	err := s.evenly(ctx, func() error {
		user, err := s.addressee(ctx, caller, kind, address, statement)
		if err != nil {
			return err
		}
		if user != nil {
			id = user.ID
		}
		return s.resendTo(ctx, user, in.Type, address, back, record)
	})
	return id, err
}

func (s *Service) resendTo(ctx context.Context, user *User, purpose Verification, address string, back wayBack, record Record[*User]) error {
	m := moves{back: back}
	switch {
	case user == nil:
	case (purpose == VerifySignUp || purpose == VerifySMS) && !user.hasConfirmed(address):
		return s.sendMessage(ctx, message{to: user, kind: MailConfirmation, purpose: VerifySignUp, back: back, record: record}, tokenConfirmation, address)
	case purpose == VerifyEmailChange && user.NewEmail != "":
		m.addresses = []string{user.NewEmail}
	case purpose == VerifyPhoneChange && user.NewPhone != "":
		m.addresses = []string{user.NewPhone}
	}
	if len(m.addresses) == 0 {
		return s.sendNobody(ctx, MailConfirmation, address, back)
	}
	batch := &pgx.Batch{}
	if err := s.queueMoves(batch, user, m, now()); err != nil {
		return err
	}
	return saveFailed("Error sending confirmation message", s.sendAbout(ctx, batch, user.ID, record))
}
