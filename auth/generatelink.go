package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// LinkRequest is a link that an administrator wants to send by other means than the project's mails.
type LinkRequest struct {
	// Type is signup, invite, magiclink, recovery, email_change_current or email_change_new.
	Type            string
	Email, NewEmail string
	// Password is a new account's; Data is a JSON object for its metadata.
	Password   Secret
	Data       json.RawMessage
	RedirectTo string
}

// GeneratedLink is a link with what it is made of.
type GeneratedLink struct {
	User *User
	// Link is what its user follows; Code and TokenHash are what they can bring back instead.
	Link, Code, TokenHash Secret
	// Type is what the link is for: a magic link to an address without an account is a sign-up.
	Type       string
	RedirectTo string
}

// linkKinds are the links that can be made: by which token, and what it is brought back for.
func linkKind(name string) (tokenKind, Verification, bool) {
	switch name {
	case "signup":
		return tokenConfirmation, VerifySignUp, true
	case "invite":
		return tokenConfirmation, VerifyInvite, true
	case "magiclink":
		return tokenRecovery, VerifyMagicLink, true
	case "recovery":
		return tokenRecovery, VerifyRecovery, true
	case "email_change_current":
		return tokenEmailChangeCurrent, VerifyEmailChange, true
	case "email_change_new":
		return tokenEmailChangeNew, VerifyEmailChange, true
	}
	return "", "", false
}

// GenerateLink makes a link without mailing it.
func (s *Service) GenerateLink(ctx context.Context, caller Caller, in LinkRequest, record Record[*User]) (*GeneratedLink, error) {
	out, err := s.generateLink(ctx, caller, in, record)
	id := uuid.Nil
	if err == nil {
		id = out.User.ID
	}
	s.event(caller, "generate_link", id, err)
	return out, err
}

func (s *Service) generateLink(ctx context.Context, caller Caller, in LinkRequest, record Record[*User]) (*GeneratedLink, error) {
	if _, _, known := linkKind(in.Type); !known {
		return nil, refuse(CodeValidationFailed, "Invalid email action link type requested: it is one of signup, invite, magiclink, recovery, email_change_current, email_change_new")
	}
	email, refusal := normalizeEmail(in.Email)
	if refusal != nil {
		return nil, refusal
	}
	data, refusal := readMetadata("data", in.Data, maxUserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	hash, err := s.linkPassword(ctx, in)
	if err != nil {
		return nil, err
	}
	for range signUpAttempts {
		user, err := s.find(ctx, email)
		switch {
		case err != nil:
			return nil, err
		case user != nil:
			return s.linkTo(ctx, user, email, in, data, record)
		case in.Type == "magiclink":
			in.Type = string(VerifySignUp)
		case in.Type == "signup" && hash == nil:
			return nil, refuse(CodeValidationFailed, "Signup requires a valid password")
		case in.Type != "signup" && in.Type != "invite":
			return nil, refuse(CodeUserNotFound, "User with this email not found")
		}
		d, err := newDraft(email, data, false)
		if err != nil {
			return nil, err
		}
		d.hash = hash
		out, err := s.linkToNew(ctx, caller, d, in, record)
		if !errors.Is(err, errTaken) {
			return out, err
		}
	}
	return nil, unexpected("Database error saving new user", errVanished)
}

// linkPassword gives the hash of the password that a new account is to have; nil is none.
func (s *Service) linkPassword(ctx context.Context, in LinkRequest) (*string, error) {
	if in.Type != "signup" || in.Password == "" {
		return nil, nil
	}
	if refusal := s.judge(in.Password); refusal != nil {
		return nil, refusal
	}
	hash, err := s.hash(ctx, in.Password)
	return &hash, err
}

// generated is the answer for a token.
func (s *Service) generated(user *User, token oneTime, in LinkRequest) *GeneratedLink {
	_, purpose, _ := linkKind(in.Type)
	redirect := s.redirectTarget(in.RedirectTo)
	return &GeneratedLink{
		User: user, Link: s.linkOf(purpose, token.link, redirect), Code: token.code, TokenHash: token.link,
		Type: in.Type, RedirectTo: redirect,
	}
}

func (s *Service) linkToNew(ctx context.Context, caller Caller, d draft, in LinkRequest, record Record[*User]) (*GeneratedLink, error) {
	at := now()
	if err := s.beforeUserCreated(ctx, caller, d.preview(at)); err != nil {
		return nil, err
	}
	token, err := s.newOneTime(tokenConfirmation, d.address(), false)
	if err != nil {
		return nil, err
	}
	var user *User
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if user, err = s.insertWithToken(ctx, tx, d, in.Type == "invite", token, at); err != nil {
			return err
		}
		return record.write(tx, user)
	})
	if err != nil {
		return nil, err
	}
	return s.generated(user, token, in), s.afterUserCreated(ctx, caller, user)
}

// linkTo makes a link to an account that there is.
func (s *Service) linkTo(ctx context.Context, user *User, email string, in LinkRequest, data metadata, record Record[*User]) (*GeneratedLink, error) {
	kind, _, _ := linkKind(in.Type)
	at := now()
	batch := &pgx.Batch{}
	address, waiting := email, pending{}
	switch kind {
	case tokenConfirmation:
		if user.EmailConfirmedAt != nil {
			return nil, emailExists()
		}
		forsaken := in.Type == "invite"
		if !forsaken {
			var err error
			if forsaken, err = s.strange(ctx, user, in.Password); err != nil {
				return nil, err
			}
		}
		if forsaken {
			queueForsake(batch, user.ID)
		}
		if in.Type == "signup" && len(data) > 0 {
			if data.merged(user.UserMetadata) > maxUserMetadata {
				return nil, tooLarge("user_metadata", maxUserMetadata)
			}
			if err := (change{user: data, at: at}).queue(batch, user.ID); err != nil {
				return nil, err
			}
		}
	case tokenEmailChangeCurrent, tokenEmailChangeNew:
		if kind == tokenEmailChangeCurrent && s.links.OneSidedEmailChange {
			return nil, refuse(CodeValidationFailed, "Enable secure email change to generate link for current email")
		}
		moved, err := s.freeAddress(ctx, user, in.NewEmail)
		if err != nil {
			return nil, err
		}
		waiting.email = &moved
		if kind == tokenEmailChangeNew {
			address = moved
		}
	}
	token, err := s.newOneTime(kind, address, false)
	if err != nil {
		return nil, err
	}
	queueTokens(batch, user.ID, at, waiting, in.Type == "invite", token)
	u, err := recorded(ctx, s, record, func(db limit.Sender) (*User, error) { return writeAndRead(ctx, db, batch, user.ID, userNotFound()) })
	if err != nil {
		return nil, err
	}
	return s.generated(u, token, in), nil
}

// freeAddress reads the address that an account is to have: nobody else's.
func (s *Service) freeAddress(ctx context.Context, user *User, text string) (string, error) {
	email, refusal := normalizeEmail(text)
	if refusal != nil {
		return "", refusal
	}
	other, err := s.find(ctx, email)
	switch {
	case err != nil:
		return "", err
	case other != nil && other.ID != user.ID:
		return "", emailExists()
	}
	return email, nil
}
