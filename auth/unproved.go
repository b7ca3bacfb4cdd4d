package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const emailOfUser = `
select` + userColumns + `
from auth.users u
where u.id = $1
and u.email is not null
and u.email_confirmed_at is null`

// mayAskToConfirm tells whether a mail may be sent to the address of a visitor that nobody has proved to read. It
// counts the same for addresses that are somebody's.
func (s *Service) mayAskToConfirm(ctx context.Context, caller Caller, v visitor) (bool, error) {
	refusal, err := s.admit(ctx, caller, s.intervalHit(tokenConfirmation, v.email))
	if err != nil || refusal != nil {
		return false, err
	}
	return s.spend(ctx, caller, v.email) == nil, nil
}

// askToConfirm adds to a transaction a mail by which an account's user confirms the address that a provider has given
// without vouching for it. An account that is zero is somebody else's: nothing is sent.
func (s *Service) askToConfirm(ctx context.Context, tx pgx.Tx, user uuid.UUID, redirect string) error {
	if user == uuid.Nil {
		return nil
	}
	u, err := scanUser(tx.QueryRow(ctx, emailOfUser, user))
	if err != nil {
		return err
	}
	token, err := s.newOneTime(tokenConfirmation, u.Email, false)
	if err != nil {
		return err
	}
	at := now()
	batch := &pgx.Batch{}
	queueTokens(batch, user, at, pending{}, false, token)
	m := message{to: u, kind: MailConfirmation, purpose: VerifySignUp, token: token, back: wayBack{redirect: redirect}}
	if err := s.queueMessage(batch, m, at); err != nil {
		return err
	}
	return tx.SendBatch(ctx, batch).Close()
}

// unverified is the answer to who has an address that the provider does not vouch for. It is the same whether the
// address is somebody's here or nobody's.
func unverified(v visitor) *Error {
	return deny(CodeProviderEmailNeedsVerification,
		"Unverified email with "+v.provider+". A confirmation email has been sent to your "+v.provider+" email")
}
