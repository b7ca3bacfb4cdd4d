package auth

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// passkeyFactor is what mails call a passkey.
const passkeyFactor = "passkey"

// noticeOf is a mail to the owner of an account; to nobody while nobody has proved to read its address.
func noticeOf(u *User, kind MailKind) Mail {
	m := Mail{Kind: kind, UserID: u.ID, Email: u.Email, Data: u.UserMetadata}
	if u.EmailConfirmedAt != nil {
		m.To = u.Email
	}
	return m
}

// notifyOfFactor adds to a batch a mail about a second factor, or a passkey, that came or went.
func (s *Service) notifyOfFactor(batch *pgx.Batch, kind MailKind, u *User, factorType string) error {
	m := noticeOf(u, kind)
	m.FactorType = factorType
	return s.notify(batch, m)
}

// notifyOfIdentity adds to a batch a mail about a way to sign in to the account's owner.
func (s *Service) notifyOfIdentity(batch *pgx.Batch, kind MailKind, u *User, provider string) error {
	m := noticeOf(u, kind)
	m.Provider = provider
	return s.notify(batch, m)
}

// notifyOfLink tells an account's owner, in the transaction that links it, of an identity that can now sign in.
func (s *Service) notifyOfLink(ctx context.Context, tx pgx.Tx, user uuid.UUID, provider string) error {
	if !slices.Contains(s.options.Notify, MailIdentityLinked) {
		return nil
	}
	u, err := scanUser(tx.QueryRow(ctx, userByID, user))
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if err := s.notifyOfIdentity(batch, MailIdentityLinked, u, provider); err != nil || batch.Len() == 0 {
		return err
	}
	return tx.SendBatch(ctx, batch).Close()
}

// notifyLater tells an account's owner of a second factor, or a passkey, when the change is made already. A mail that
// cannot be queued is for the log then: the change stands.
func (s *Service) notifyLater(ctx context.Context, kind MailKind, u *User, factorType string) {
	batch := &pgx.Batch{}
	err := s.notifyOfFactor(batch, kind, u, factorType)
	if err == nil && batch.Len() > 0 {
		err = s.send(ctx, batch)
	}
	if err != nil {
		s.log.Error().Err(err).Stringer("user_id", u.ID).Str("kind", string(kind)).Msg("a user could not be told of a change")
	}
}
