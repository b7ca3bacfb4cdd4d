package admin

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

// administrators puts the routes of administrators on the group.
func (o *Options) administrators(g *echo.Group) {
	o.brief(g, "GET", "/administrators", owner, o.listAdministrators)
	o.brief(g, "POST", "/administrators", owner, elevated(o.invite))
	o.brief(g, "PATCH", "/administrators/:id", owner, elevated(o.setRole))
	o.brief(g, "DELETE", "/administrators/:id", owner, elevated(o.deleteAdministrator))
	o.brief(g, "POST", "/administrators/:id/reset-link", owner, elevated(o.resetLink))
	o.brief(g, "DELETE", "/administrators/:id/factors", owner, elevated(o.removeFactors))
	o.brief(g, "PATCH", "/me", viewer, o.changePassword)
}

// AdministratorBody is an administrator as owners see them.
type AdministratorBody struct {
	ID    uuid.UUID          `json:"id"`
	Email string             `json:"email"`
	Role  administrator.Role `json:"role"`
	// Joined tells whether the invitation was accepted.
	Joined       bool       `json:"joined"`
	TOTP         bool       `json:"totp"`
	Passkeys     int        `json:"passkeys"`
	CreatedAt    time.Time  `json:"created_at"`
	LastSignInAt *time.Time `json:"last_sign_in_at"`
}

func administratorBody(a *administrator.Administrator) AdministratorBody {
	return AdministratorBody{a.ID, a.Email, a.Role, a.Joined, a.TOTP, a.Passkeys, a.CreatedAt.UTC(), a.LastSignInAt}
}

// AdministratorList is the answer of GET /administrators.
type AdministratorList struct {
	Administrators []AdministratorBody `json:"administrators"`
}

// listAdministrators answers GET /administrators.
func (o *Options) listAdministrators(c echo.Context) error {
	list, err := o.Administrators.List(c.Request().Context())
	if err != nil {
		return err
	}
	body := AdministratorList{Administrators: make([]AdministratorBody, len(list))}
	for i := range list {
		body.Administrators[i] = administratorBody(&list[i])
	}
	return c.JSON(http.StatusOK, body)
}

// InviteRequest is the body of POST /administrators.
type InviteRequest struct {
	Email string             `json:"email"`
	Role  administrator.Role `json:"role"`
}

// JoinLink is a link that is good once. It is told here alone; no mail is sent.
type JoinLink struct {
	Link      string    `json:"link"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Invitation is the answer of POST /administrators.
type Invitation struct {
	Administrator AdministratorBody `json:"administrator"`
	JoinLink
}

// invite answers POST /administrators.
func (o *Options) invite(c echo.Context) error {
	var in InviteRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	a, token, err := o.Administrators.Invite(c.Request().Context(), actorOf(c), in.Email, in.Role)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, Invitation{administratorBody(a), o.joinLink(token, administrator.InviteLife)})
}

// joinLink is made of the settings alone, never of what a request says of its host.
func (o *Options) joinLink(token auth.Secret, life time.Duration) JoinLink {
	return JoinLink{
		Link:      strings.TrimSuffix(o.URL.String(), "/") + "/admin/join#token=" + token.Reveal(), // behind the #, browsers send it to nobody
		ExpiresAt: time.Now().Add(life).UTC().Truncate(time.Second),
	}
}

// RoleChange is the body of PATCH /administrators/{id}.
type RoleChange struct {
	Role administrator.Role `json:"role"`
}

// setRole answers PATCH /administrators/{id}.
func (o *Options) setRole(c echo.Context) error {
	id, err := idOf(c, "an administrator")
	if err != nil {
		return err
	}
	var in RoleChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	a, err := o.Administrators.SetRole(c.Request().Context(), actorOf(c), id, in.Role)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, administratorBody(a))
}

// deleteAdministrator answers DELETE /administrators/{id}.
func (o *Options) deleteAdministrator(c echo.Context) error {
	id, err := idOf(c, "an administrator")
	if err != nil {
		return err
	}
	if err := o.Administrators.Delete(c.Request().Context(), actorOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// resetLink answers POST /administrators/{id}/reset-link.
func (o *Options) resetLink(c echo.Context) error {
	id, err := idOf(c, "an administrator")
	if err != nil {
		return err
	}
	token, life, err := o.Administrators.ResetLink(c.Request().Context(), actorOf(c), id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, o.joinLink(token, life))
}

// removeFactors answers DELETE /administrators/{id}/factors, of somebody who has lost theirs.
func (o *Options) removeFactors(c echo.Context) error {
	id, err := idOf(c, "an administrator")
	if err != nil {
		return err
	}
	if err := o.Administrators.RemoveFactors(c.Request().Context(), actorOf(c), id, sessionOf(c).ID); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// PasswordChange is the body of PATCH /me.
type PasswordChange struct {
	Password auth.Secret `json:"password" tstype:"string"`
	Current  auth.Secret `json:"current" tstype:"string"`
}

// changePassword answers PATCH /me. It ends all other sessions of who asks.
func (o *Options) changePassword(c echo.Context) error {
	var in PasswordChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	opened, err := o.Administrators.ChangePassword(c.Request().Context(), callerOf(c), sessionOf(c), o.token(c.Request()), in.Current, in.Password)
	if err != nil {
		return err
	}
	return o.welcome(c, opened)
}
