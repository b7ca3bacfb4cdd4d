package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"basalt/auth/hook"
)

// HookMessenger hands messages to the hooks that send them.
type HookMessenger struct {
	// Pool reads accounts, and runs hooks that are functions.
	Pool  *pgxpool.Pool
	Hooks Hooks
	// APIURL is the public URL of the accounts API, from which hooks make links.
	APIURL string
}

// ErrNobody is a message for an account that is not there any more.
var ErrNobody = errors.New("the account is not there any more")

type mailEvent struct {
	Metadata hook.Metadata   `json:"metadata"`
	User     json.RawMessage `json:"user"`
	Mail     mailData        `json:"email_data"`
}

type mailData struct {
	Token        string   `json:"token"`
	TokenHash    string   `json:"token_hash"`
	RedirectTo   string   `json:"redirect_to"`
	Kind         MailKind `json:"email_action_type"`
	SiteURL      string   `json:"site_url"`
	TokenNew     string   `json:"token_new"`
	TokenHashNew string   `json:"token_hash_new"`
	OldEmail     string   `json:"old_email"`
	OldPhone     string   `json:"old_phone"`
	Provider     string   `json:"provider"`
	FactorType   string   `json:"factor_type"`
}

// Mail hands a mail to the hook that sends mails. Failures of the hook are of type *hook.Error.
func (h *HookMessenger) Mail(ctx context.Context, m Mail) error {
	user, err := h.describe(ctx, m.UserID, &User{Email: m.To})
	if err != nil {
		return err
	}
	data := mailData{
		Token: m.Token.Reveal(), TokenHash: m.TokenHash.Reveal(),
		RedirectTo: m.RedirectTo, Kind: m.Kind, SiteURL: h.APIURL,
		OldEmail: m.OldEmail, OldPhone: m.OldPhone, Provider: m.Provider, FactorType: m.FactorType,
	}
	if m.TokenNew != "" {
		// Supabase's names are crossed: the hash under token_hash belongs to token_new and the new address, the one
		// under token_hash_new to token and the address that the account has.
		data.TokenNew, data.TokenHash, data.TokenHashNew = m.TokenNew.Reveal(), m.TokenHashNew.Reveal(), m.TokenHash.Reveal()
	}
	return h.Hooks.SendEmail.Call(ctx, h.Pool, mailEvent{h.Hooks.SendEmail.Metadata(""), user, data}, &struct{}{})
}

type smsEvent struct {
	Metadata hook.Metadata   `json:"metadata"`
	User     json.RawMessage `json:"user"`
	SMS      smsData         `json:"sms"`
}

type smsData struct {
	Code    string `json:"otp"`
	Phone   string `json:"phone"`
	Channel string `json:"channel"`
}

// SMS hands a text message to the hook that sends them. Failures of the hook are of type *hook.Error.
func (h *HookMessenger) SMS(ctx context.Context, m SMS) error {
	user, err := h.describe(ctx, m.UserID, &User{Phone: m.To})
	if err != nil {
		return err
	}
	channel := m.Channel
	if channel == "" {
		channel = "sms"
	}
	data := smsData{Code: m.Code.Reveal(), Phone: m.To, Channel: channel}
	return h.Hooks.SendSMS.Call(ctx, h.Pool, smsEvent{h.Hooks.SendSMS.Metadata(""), user, data}, &struct{}{})
}

// describe writes the account that a message is for; what is known of it stands for a message to no account.
func (h *HookMessenger) describe(ctx context.Context, id uuid.UUID, known *User) (json.RawMessage, error) {
	if id == uuid.Nil {
		known.AppMetadata, known.UserMetadata = json.RawMessage(`{}`), json.RawMessage(`{}`)
		return h.Hooks.Describe(known), nil
	}
	u, err := scanUser(h.Pool.QueryRow(ctx, userByID, id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, ErrNobody
	case err != nil:
		return nil, err
	}
	return h.Hooks.Describe(u), nil
}
