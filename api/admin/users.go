package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

// users puts the routes of the app's users on the group.
func (o *Options) users(g *echo.Group) {
	o.brief(g, "GET", "/users", viewer, o.listUsers)
	o.brief(g, "GET", "/users/summary", viewer, o.summarizeUsers)
	o.brief(g, "POST", "/users", editor, o.createUser)
	o.brief(g, "POST", "/users/invite", editor, o.inviteUser)
	o.brief(g, "GET", "/users/:id", viewer, o.readUser)
	o.brief(g, "PATCH", "/users/:id", editor, o.changeUser)
	o.brief(g, "DELETE", "/users/:id", editor, o.deleteUser)
	o.brief(g, "POST", "/users/:id/send", editor, o.sendToUser)
	o.brief(g, "POST", "/users/:id/link", editor, o.linkForUser)
	o.brief(g, "GET", "/users/:id/sessions", viewer, o.listUserSessions)
	o.brief(g, "DELETE", "/users/:id/sessions", editor, o.endUserSessions)
	o.brief(g, "DELETE", "/users/:id/sessions/:session", editor, o.endUserSession)
	o.brief(g, "DELETE", "/users/:id/factors/:factor", editor, o.removeUserFactor)
	o.brief(g, "GET", "/users/:id/audit", viewer, o.auditOfUser)
}

// UserBody is an account in a list.
type UserBody struct {
	ID               uuid.UUID  `json:"id"`
	Email            string     `json:"email"`
	Phone            string     `json:"phone"`
	Role             string     `json:"role"`
	Providers        []string   `json:"providers"`
	Anonymous        bool       `json:"anonymous"`
	SSO              bool       `json:"sso"`
	Factors          int        `json:"factors"`
	CreatedAt        *time.Time `json:"created_at"`
	LastSignInAt     *time.Time `json:"last_sign_in_at"`
	EmailConfirmedAt *time.Time `json:"email_confirmed_at"`
	PhoneConfirmedAt *time.Time `json:"phone_confirmed_at"`
	InvitedAt        *time.Time `json:"invited_at"`
	// BannedUntil is null when the account is not banned now.
	BannedUntil *time.Time `json:"banned_until"`
	DeletedAt   *time.Time `json:"deleted_at"`
}

func userBody(u *auth.User) UserBody {
	b := UserBody{
		ID: u.ID, Email: u.Email, Phone: u.Phone, Role: u.Role, Anonymous: u.Anonymous, Providers: []string{},
		CreatedAt: u.CreatedAt, LastSignInAt: u.LastSignInAt, EmailConfirmedAt: u.EmailConfirmedAt, PhoneConfirmedAt: u.PhoneConfirmedAt,
		InvitedAt: u.InvitedAt, DeletedAt: u.DeletedAt,
	}
	if u.BannedUntil != nil && u.BannedUntil.After(time.Now()) {
		b.BannedUntil = u.BannedUntil
	}
	for i := range u.Identities {
		provider := u.Identities[i].Provider
		b.Providers = append(b.Providers, provider)
		b.SSO = b.SSO || strings.HasPrefix(provider, "sso:")
	}
	for i := range u.Factors {
		if u.Factors[i].Status == "verified" {
			b.Factors++
		}
	}
	return b
}

// UserPage is the answer of GET /users.
type UserPage struct {
	Users []UserBody `json:"users"`
	// Next is what `after` asks for the next page with; "" is the end.
	Next string `json:"next"`
}

// mostUsers is how many accounts one page has at most.
const mostUsers = 200

// listUsers answers GET /users?search=&confirmed=&banned=&anonymous=&sso=&provider=&after=&limit=, the newest first.
func (o *Options) listUsers(c echo.Context) error {
	search := auth.UserSearch{Text: c.QueryParam("search"), Provider: c.QueryParam("provider"), Limit: 50}
	for name, wanted := range map[string]**bool{
		"confirmed": &search.Confirmed, "banned": &search.Banned, "anonymous": &search.Anonymous, "sso": &search.SSO,
	} {
		if text := c.QueryParam(name); text != "" {
			yes := text == "true"
			if !yes && text != "false" {
				return badParameter(name, "true or false")
			}
			*wanted = &yes
		}
	}
	if text := c.QueryParam("limit"); text != "" {
		var err error
		if search.Limit, err = strconv.Atoi(text); err != nil || search.Limit < 1 || search.Limit > mostUsers {
			return badParameter("limit", fmt.Sprintf("a number from 1 to %d", mostUsers))
		}
	}
	if text := c.QueryParam("after"); text != "" {
		place, ok := placeOf(text)
		if !ok {
			return badParameter("after", "what the page before gave as next")
		}
		search.After = &place
	}
	found, err := o.Accounts.AdminFindUsers(c.Request().Context(), search)
	if err != nil {
		return err
	}
	page := UserPage{Users: make([]UserBody, len(found.Users))}
	for i, u := range found.Users {
		page.Users[i] = userBody(u)
	}
	if found.More {
		page.Next = placeText(found.Users[len(found.Users)-1].Place())
	}
	return c.JSON(http.StatusOK, page)
}

// placeText writes a place as microseconds since 1970, "-" for none, and the id.
func placeText(place auth.UserPlace) string {
	if place.CreatedAt.IsZero() {
		return "-." + place.ID.String()
	}
	return strconv.FormatInt(place.CreatedAt.UnixMicro(), 10) + "." + place.ID.String()
}

func placeOf(text string) (place auth.UserPlace, ok bool) {
	at, id, found := strings.Cut(text, ".")
	var err error
	if place.ID, err = uuid.Parse(id); err != nil || !found {
		return place, false
	}
	if at == "-" {
		return place, true
	}
	micros, err := strconv.ParseInt(at, 10, 64)
	const most = 253402300800000000 // the year 10000
	if err != nil || micros < -most || micros > most {
		return place, false
	}
	place.CreatedAt = time.UnixMicro(micros).UTC()
	return place, true
}

// UserSummary is the answer of GET /users/summary.
type UserSummary struct {
	Count int64 `json:"count"`
	// Exact tells that they were counted; else the count is an estimate.
	Exact     bool     `json:"exact"`
	Providers []string `json:"providers"`
	// Mails and Texts tell whether there is a way to send them; without one they are kept in the outbox.
	Mails bool `json:"mails"`
	Texts bool `json:"texts"`
}

// summarizeUsers answers GET /users/summary.
func (o *Options) summarizeUsers(c echo.Context) error {
	var out UserSummary
	var err error
	if out.Count, out.Exact, err = o.Accounts.AdminCountUsers(c.Request().Context()); err != nil {
		return err
	}
	if out.Providers, err = o.Accounts.AdminProviders(c.Request().Context()); err != nil {
		return err
	}
	out.Mails, out.Texts = o.Outbox.Ways()
	return c.JSON(http.StatusOK, out)
}

// UserDetails is the answer of GET /users/{id}.
type UserDetails struct {
	UserBody
	NewEmail  string     `json:"new_email"`
	NewPhone  string     `json:"new_phone"`
	UpdatedAt *time.Time `json:"updated_at"`
	// UserMetadata and AppMetadata are JSON texts: numbers in them keep all their digits.
	UserMetadata string          `json:"user_metadata"`
	AppMetadata  string          `json:"app_metadata"`
	Identities   []UserIdentity  `json:"identities"`
	SecondFactor []UserFactorRow `json:"second_factors"`
}

// UserIdentity is one way in which an account is known.
type UserIdentity struct {
	ID           uuid.UUID  `json:"id"`
	Provider     string     `json:"provider"`
	ProviderID   string     `json:"provider_id"`
	Email        string     `json:"email"`
	Data         string     `json:"data"`
	CreatedAt    *time.Time `json:"created_at"`
	LastSignInAt *time.Time `json:"last_sign_in_at"`
}

// UserFactorRow is a second factor of an account.
type UserFactorRow struct {
	ID        uuid.UUID  `json:"id"`
	Type      string     `json:"type"`
	Name      string     `json:"name"`
	Status    string     `json:"status"`
	Phone     string     `json:"phone"`
	CreatedAt *time.Time `json:"created_at"`
}

func userDetails(u *auth.User) UserDetails {
	d := UserDetails{
		UserBody: userBody(u), NewEmail: u.NewEmail, NewPhone: u.NewPhone, UpdatedAt: u.UpdatedAt,
		UserMetadata: indented(u.UserMetadata), AppMetadata: indented(u.AppMetadata),
		Identities: []UserIdentity{}, SecondFactor: []UserFactorRow{},
	}
	for _, i := range u.Identities {
		d.Identities = append(d.Identities, UserIdentity{i.ID, i.Provider, i.ProviderID, i.Email, indented(i.Data), i.CreatedAt, i.LastSignInAt})
	}
	for _, f := range u.Factors {
		d.SecondFactor = append(d.SecondFactor, UserFactorRow{f.ID, f.Type, f.FriendlyName, f.Status, f.Phone, f.CreatedAt})
	}
	return d
}

// indented lays a JSON text out without touching what stands in it.
func indented(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// readUser answers GET /users/{id}.
func (o *Options) readUser(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	u, err := o.Accounts.AdminUser(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, userDetails(u))
}

// trustedOf is who asks, as the rules of accounts know them: administrators are not limited.
func trustedOf(c echo.Context) auth.Caller {
	caller := callerOf(c)
	caller.Trusted = true
	return caller
}

// record is the entry in the audit log of what is done to an account, with what there is to tell of before and after.
func (o *Options) record(c echo.Context, action string, before, after any) auth.Record[*auth.User] {
	return func(tx pgx.Tx, u *auth.User) error {
		return o.audit(c, tx, administrator.Change{Action: action, Target: u.ID.String(), Before: before, After: after})
	}
}
