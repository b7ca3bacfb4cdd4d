package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// UserChange is the body of POST /users and of PATCH /users/{id}. What is absent stays as it is.
type UserChange struct {
	Email        *string      `json:"email,omitempty"`
	Phone        *string      `json:"phone,omitempty"`
	Password     *auth.Secret `json:"password,omitempty" tstype:"string"`
	EmailConfirm *bool        `json:"email_confirm,omitempty"`
	PhoneConfirm *bool        `json:"phone_confirm,omitempty"`
	Role         *string      `json:"role,omitempty"`
	// UserMetadata and AppMetadata are the texts of JSON objects, and take the places of those that are there.
	UserMetadata *string `json:"user_metadata,omitempty"`
	AppMetadata  *string `json:"app_metadata,omitempty"`
	// BanDuration is from now on, such as "24h", or "none".
	BanDuration *string `json:"ban_duration,omitempty"`
}

// user is the change in the words of the accounts' rules, which merge metadata: what is gone is null there.
func (in *UserChange) user(current *auth.User) (auth.AdminUser, error) {
	out := auth.AdminUser{
		Email: in.Email, Phone: in.Phone, Password: in.Password, EmailConfirm: in.EmailConfirm, PhoneConfirm: in.PhoneConfirm,
		Role: in.Role, BanDuration: in.BanDuration,
	}
	if current == nil {
		current = &auth.User{UserMetadata: json.RawMessage(`{}`), AppMetadata: json.RawMessage(`{}`)}
	}
	var err error
	if out.UserMetadata, err = replaced("user_metadata", current.UserMetadata, in.UserMetadata); err != nil {
		return out, err
	}
	out.AppMetadata, err = replaced("app_metadata", current.AppMetadata, in.AppMetadata)
	return out, err
}

// replaced is the change that makes one object of another.
func replaced(name string, current json.RawMessage, text *string) (json.RawMessage, error) {
	if text == nil {
		return nil, nil
	}
	var old, wanted map[string]json.RawMessage
	if err := json.Unmarshal([]byte(*text), &wanted); err != nil || wanted == nil {
		p := refuse(http.StatusUnprocessableEntity, "validation_failed", name+" must be a JSON object")
		if err != nil {
			p.Details = err.Error()
		}
		return nil, p
	}
	if err := json.Unmarshal(current, &old); err != nil {
		return nil, err
	}
	for key := range old {
		if _, stays := wanted[key]; !stays {
			wanted[key] = json.RawMessage("null")
		}
	}
	return json.Marshal(wanted)
}

// userState is an account in the audit log: without its secrets.
type userState struct {
	Email          string          `json:"email,omitempty"`
	Phone          string          `json:"phone,omitempty"`
	EmailConfirmed bool            `json:"email_confirmed"`
	PhoneConfirmed bool            `json:"phone_confirmed"`
	Role           string          `json:"role,omitempty"`
	BannedUntil    *time.Time      `json:"banned_until"`
	UserMetadata   json.RawMessage `json:"user_metadata,omitempty"`
	AppMetadata    json.RawMessage `json:"app_metadata,omitempty"`
	// Password is "changed" when there is another now.
	Password string `json:"password,omitempty"`
}

func stateOf(u *auth.User) userState {
	return userState{
		Email: u.Email, Phone: u.Phone, EmailConfirmed: u.EmailConfirmedAt != nil, PhoneConfirmed: u.PhoneConfirmedAt != nil,
		Role: u.Role, BannedUntil: u.BannedUntil, UserMetadata: u.UserMetadata, AppMetadata: u.AppMetadata,
	}
}

// recordNew is the entry in the audit log of an account that comes to be.
func (o *Options) recordNew(c echo.Context, action string) auth.Record[*auth.User] {
	return func(tx pgx.Tx, u *auth.User) error { return o.record(c, action, nil, stateOf(u))(tx, u) }
}

// createUser answers POST /users.
func (o *Options) createUser(c echo.Context) error {
	var in UserChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	wanted, err := in.user(nil)
	if err != nil {
		return err
	}
	u, err := o.Accounts.AdminCreateUser(c.Request().Context(), trustedOf(c), wanted, o.recordNew(c, "user.create"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, userDetails(u))
}

// UserInvitation is the body of POST /users/invite.
type UserInvitation struct {
	Email        string  `json:"email"`
	RedirectTo   string  `json:"redirect_to,omitempty"`
	UserMetadata *string `json:"user_metadata,omitempty"`
}

// inviteUser answers POST /users/invite.
func (o *Options) inviteUser(c echo.Context) error {
	var in UserInvitation
	if err := readJSON(c, &in); err != nil {
		return err
	}
	data, err := replaced("user_metadata", json.RawMessage(`{}`), in.UserMetadata)
	if err != nil {
		return err
	}
	invitation := auth.Invite{Email: in.Email, Data: data, RedirectTo: in.RedirectTo}
	u, err := o.Accounts.Invite(c.Request().Context(), trustedOf(c), invitation, o.recordNew(c, "user.invite"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, userDetails(u))
}

// changeUser answers PATCH /users/{id}.
func (o *Options) changeUser(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	var in UserChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	before, err := o.Accounts.AdminUser(c.Request().Context(), id)
	if err != nil {
		return err
	}
	wanted, err := in.user(before)
	if err != nil {
		return err
	}
	action := "user.update"
	if in.BanDuration != nil {
		action = "user.ban"
		if *in.BanDuration == "none" {
			action = "user.unban"
		}
	}
	u, err := o.Accounts.AdminUpdateUser(c.Request().Context(), trustedOf(c), id, wanted, func(tx pgx.Tx, u *auth.User) error {
		after := stateOf(u)
		if in.Password != nil && *in.Password != "" {
			after.Password = "changed"
		}
		return o.record(c, action, stateOf(before), after)(tx, u)
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, userDetails(u))
}

// deleteUser answers DELETE /users/{id}: with all that hangs on the account.
func (o *Options) deleteUser(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	err = o.Accounts.AdminDeleteUser(c.Request().Context(), trustedOf(c), id, false, func(tx pgx.Tx, u *auth.User) error {
		return o.record(c, "user.delete", stateOf(u), nil)(tx, u)
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// UserSending is the body of POST /users/{id}/send.
type UserSending struct {
	// Kind is recovery, magiclink, confirmation or sms.
	Kind string `json:"kind" tstype:"'recovery' | 'magiclink' | 'confirmation' | 'sms'"`
}

// sendToUser answers POST /users/{id}/send: the message that the user could ask for themselves.
func (o *Options) sendToUser(c echo.Context) error {
	u, err := o.userOf(c)
	if err != nil {
		return err
	}
	var in UserSending
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if in.Kind == "sms" && u.Phone == "" || in.Kind != "sms" && u.Email == "" {
		return refuse(http.StatusUnprocessableEntity, "no_address", "This user has no address for that")
	}
	ctx, caller, record := c.Request().Context(), trustedOf(c), o.record(c, "user.send", nil, in)
	switch in.Kind {
	case "recovery":
		err = o.Accounts.Recover(ctx, caller, u.Email, auth.Return{}, record)
	case "magiclink":
		err = o.Accounts.SendOTP(ctx, caller, auth.OTP{Email: u.Email, KnownOnly: true}, record)
	case "confirmation":
		if u.EmailConfirmedAt != nil {
			return refuse(http.StatusConflict, "confirmed", "The address is confirmed already")
		}
		err = o.Accounts.Resend(ctx, caller, auth.Resend{Type: auth.VerifySignUp, Email: u.Email}, record)
	case "sms":
		err = o.Accounts.SendOTP(ctx, caller, auth.OTP{Phone: u.Phone, KnownOnly: true}, record)
	default:
		return refuse(http.StatusUnprocessableEntity, "validation_failed", "kind must be recovery, magiclink, confirmation or sms")
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// UserLinkRequest is the body of POST /users/{id}/link.
type UserLinkRequest struct {
	// Type is recovery, magiclink or invite.
	Type       string `json:"type" tstype:"'recovery' | 'magiclink' | 'invite'"`
	RedirectTo string `json:"redirect_to,omitempty"`
}

// UserLink is a link that lets whoever follows it in as a user, once.
type UserLink struct {
	Link string `json:"link"`
	Code string `json:"code"`
}

// linkForUser answers POST /users/{id}/link: a link to pass on, which is not mailed.
func (o *Options) linkForUser(c echo.Context) error {
	u, err := o.userOf(c)
	if err != nil {
		return err
	}
	var in UserLinkRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	switch {
	case in.Type != "recovery" && in.Type != "magiclink" && in.Type != "invite":
		return refuse(http.StatusUnprocessableEntity, "validation_failed", "type must be recovery, magiclink or invite")
	case u.Email == "":
		return refuse(http.StatusUnprocessableEntity, "no_address", "This user has no e-mail address")
	}
	wanted := auth.LinkRequest{Type: in.Type, Email: u.Email, RedirectTo: in.RedirectTo}
	made, err := o.Accounts.GenerateLink(c.Request().Context(), trustedOf(c), wanted, o.record(c, "user.link", nil, in))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, UserLink{Link: made.Link.Reveal(), Code: made.Code.Reveal()})
}

// userOf is the account that the path names.
func (o *Options) userOf(c echo.Context) (*auth.User, error) {
	id, err := idOf(c, "a user")
	if err != nil {
		return nil, err
	}
	return o.Accounts.AdminUser(c.Request().Context(), id)
}

// partOf reads the id of something that an account has.
func partOf(c echo.Context, name string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param(name))
	if err != nil {
		return uuid.Nil, refuse(http.StatusBadRequest, "bad_id", "The id of a "+name+" is a UUID")
	}
	return id, nil
}
