package administrator

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
	"basalt/auth/limit"
)

// BeginPasskeySignIn asks any authenticator to prove whom it knows. Nothing is said about administrators.
func (s *Service) BeginPasskeySignIn(ctx context.Context, caller auth.Caller, origin *url.URL) (*Challenge[RequestOptions], error) {
	if err := s.admit(ctx, limit.Hit{Rule: passkeyRule(), Of: caller.Network()}); err != nil {
		return nil, err
	}
	w, err := ceremonies(origin)
	if err != nil {
		return nil, err
	}
	assertion, data, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, err
	}
	id, err := s.keepChallenge(ctx, nil, data)
	if err != nil {
		return nil, err
	}
	return &Challenge[RequestOptions]{id, &assertion.Response}, nil
}

// FinishPasskeySignIn opens a session for whom a passkey proves. It asks for no code: the authenticator has made sure of
// its user itself. The answer is an AuthenticationResponseJSON (WebAuthn §5.1); before is the token that the browser had.
func (s *Service) FinishPasskeySignIn(ctx context.Context, caller auth.Caller, origin *url.URL, challenge uuid.UUID, answer json.RawMessage, before auth.Secret) (*Opened, error) {
	opened, id, err := s.finishPasskeySignIn(ctx, caller, origin, challenge, answer, before)
	s.event(caller, "signin_passkey", id, err)
	return opened, err
}

var errNoSuchPasskey = errors.New("no administrator has this passkey")

func (s *Service) finishPasskeySignIn(ctx context.Context, caller auth.Caller, origin *url.URL, challenge uuid.UUID, answer json.RawMessage, before auth.Secret) (*Opened, uuid.UUID, error) {
	w, err := ceremonies(origin)
	if err != nil {
		return nil, uuid.Nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, uuid.Nil, passkeyRefused(err)
	}
	data, err := s.consume(ctx, challenge, nil)
	if err != nil {
		return nil, uuid.Nil, err
	}
	id, _ := uuid.ParseBytes(parsed.Response.UserHandle) // what is none is nobody's
	rows, err := s.db.Query(ctx, passkeyToSignIn, parsed.RawID, id, w.Config.RPID)
	if err != nil {
		return nil, uuid.Nil, err
	}
	credentials, err := pgx.CollectRows(rows, auth.ScanCredential)
	if err != nil {
		return nil, uuid.Nil, err
	}
	_, credential, err := w.ValidatePasskeyLogin(func([]byte, []byte) (webauthn.User, error) {
		if len(credentials) == 0 {
			return nil, errNoSuchPasskey
		}
		return auth.KeyHolder{ID: id, Name: id.String(), Credentials: credentials}, nil
	}, *data, parsed)
	if err != nil {
		return nil, uuid.Nil, passkeyRefused(err)
	}
	if credential.Authenticator.CloneWarning {
		return nil, id, passkeyRefused(errCloned)
	}
	var token auth.Secret
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var email string
		err := tx.QueryRow(ctx, lockAdministrator, id).Scan(&email)
		if errors.Is(err, pgx.ErrNoRows) {
			return passkeyRefused(errNoSuchPasskey)
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, usePasskey, credential.ID, id, int64(credential.Authenticator.SignCount), credential.Flags.BackupState)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return passkeyRefused(errCloned)
		}
		if token, err = open(ctx, tx, caller, id, before); err != nil {
			return err
		}
		return Record(ctx, tx, actor(caller, id, email), Change{Action: "session.create", Target: id.String(), After: map[string]string{"by": "passkey"}})
	})
	if err != nil {
		return nil, id, err
	}
	opened, err := s.opened(ctx, token)
	return opened, id, err
}

// errCloned is of an authenticator whose count does not grow: there are two with the same key, and one of them may be a
// thief's.
var errCloned = errors.New("the count of signatures does not grow: the authenticator may have been cloned")
