package administrator

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
	"basalt/auth/factor"
)

const (
	// keepTOTP keeps a secret that no code has proved yet. One that counts is not replaced.
	keepTOTP = `
update basalt.administrators
set totp_secret = $2,
    totp_last_step = 0,
    updated_at = now()
where id = $1
and totp_verified_at is null`

	unprovedTOTP = `
select totp_secret
from basalt.administrators
where id = $1
and totp_verified_at is null
and totp_secret is not null`

	// proveTOTP lets the secret count that the code was of, unless another has been drawn meanwhile.
	proveTOTP = `
update basalt.administrators
set totp_verified_at = now(),
    totp_last_step = $3,
    updated_at = now()
where id = $1
and totp_secret = $2
and totp_verified_at is null`

	endTOTP = dropTOTP + `
and totp_verified_at is not null`
)

// BeginTOTP draws a secret for codes of the time. It counts once VerifyTOTP has seen a code; beginning anew draws another.
func (s *Service) BeginTOTP(ctx context.Context, who *Administrator) (factor.TOTP, error) {
	drawn := factor.NewTOTP("Basalt", who.Email)
	sealed, err := s.options.Vault.Seal(ctx, drawn.Secret, totpCell(who.ID))
	if err != nil {
		return factor.TOTP{}, err
	}
	tag, err := s.db.Exec(ctx, keepTOTP, who.ID, sealed)
	if err != nil {
		return factor.TOTP{}, err
	}
	if tag.RowsAffected() == 0 {
		return factor.TOTP{}, &Error{Code: CodeTOTPEnabled, Message: "An authenticator app is set up already", Hint: "Remove it first."}
	}
	return drawn, nil
}

// VerifyTOTP lets the secret count that was drawn, when a code proves that an app has it, and gives the recovery codes that
// stand in for the app. Other sessions of the administrator end: they were opened without it.
func (s *Service) VerifyTOTP(ctx context.Context, caller auth.Caller, session *Session, code auth.Secret) ([]auth.Secret, error) {
	codes, err := s.verifyTOTP(ctx, caller, session, code)
	s.event(caller, "totp_enable", session.Administrator.ID, err)
	return codes, err
}

func (s *Service) verifyTOTP(ctx context.Context, caller auth.Caller, session *Session, code auth.Secret) ([]auth.Secret, error) {
	who := session.Administrator
	if err := s.admit(ctx, proofHits(session.ID)...); err != nil {
		return nil, err
	}
	var sealed string
	err := s.db.QueryRow(ctx, unprovedTOTP, who.ID).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &Error{Code: CodeTOTPMissing, Message: "No authenticator app is being set up", Hint: "Begin by POST /admin/api/me/totp."}
	}
	if err != nil {
		return nil, err
	}
	step, err := s.matchCode(ctx, who.ID, sealed, code)
	if err != nil {
		return nil, err
	}
	var codes []auth.Secret
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, proveTOTP, who.ID, sealed, step)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return codeInvalid()
		}
		if _, err := tx.Exec(ctx, endSessions, who.ID, session.ID); err != nil {
			return err
		}
		if codes, err = drawRecovery(ctx, tx, who.ID); err != nil {
			return err
		}
		return Record(ctx, tx, actor(caller, who.ID, who.Email), Change{Action: "totp.enable", Target: who.ID.String()})
	})
	return codes, err
}

// EndTOTP asks for no more codes of an administrator's own. The recovery codes go with the app.
func (s *Service) EndTOTP(ctx context.Context, by Actor, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, endTOTP, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return refuse(CodeTOTPMissing, "No authenticator app is set up")
		}
		if _, err := tx.Exec(ctx, dropRecovery, id); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "totp.disable", Target: id.String()})
	})
}
