package accounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) adminRoutes() routes {
	return routes{
		"/admin/users": {http.MethodGet: f.admin(f.listUsers), http.MethodPost: f.admin(f.createUser)},
		"/admin/users/:id": {
			http.MethodGet:    f.admin(f.adminGetUser),
			http.MethodPut:    f.admin(f.adminPutUser),
			http.MethodDelete: f.admin(f.adminDeleteUser),
		},
	}
}

const (
	defaultPerPage = 50
	maxPerPage     = 1000
)

type adminUserRequest struct {
	ID           *uuid.UUID      `json:"id"`
	Email        *string         `json:"email"`
	Phone        *string         `json:"phone"`
	Password     *auth.Secret    `json:"password"`
	PasswordHash *auth.Secret    `json:"password_hash"`
	EmailConfirm *bool           `json:"email_confirm"`
	PhoneConfirm *bool           `json:"phone_confirm"`
	UserMetadata json.RawMessage `json:"user_metadata"`
	AppMetadata  json.RawMessage `json:"app_metadata"`
	Role         *string         `json:"role"`
	Audience     *string         `json:"aud"`
	BanDuration  *string         `json:"ban_duration"`
}

func (in adminUserRequest) user() auth.AdminUser {
	return auth.AdminUser{
		ID: in.ID, Email: in.Email, Phone: in.Phone, Password: in.Password, PasswordHash: in.PasswordHash,
		EmailConfirm: in.EmailConfirm, PhoneConfirm: in.PhoneConfirm, UserMetadata: in.UserMetadata, AppMetadata: in.AppMetadata,
		Role: in.Role, Audience: in.Audience, BanDuration: in.BanDuration,
	}
}

// listUsers answers GET /admin/users?page=&per_page=.
func (f *face) listUsers(c echo.Context) error {
	page, err := count(c, "page", 1)
	if err != nil {
		return err
	}
	perPage, err := count(c, "per_page", defaultPerPage)
	if err != nil {
		return err
	}
	perPage = min(perPage, maxPerPage)
	found, err := f.service.AdminListUsers(c.Request().Context(), page, perPage)
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("X-Total-Count", strconv.Itoa(found.Total))
	header.Set("Link", links(c.Request().URL, page, perPage, found.Total))
	return c.JSONBlob(http.StatusOK, userListBody(found.Users))
}

// count reads a query parameter that counts from 1.
func count(c echo.Context, name string, otherwise int) (int, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: fmt.Sprintf("Bad Pagination Parameters: %s must be a number from 1 on", name)}
	}
	return int(n), nil
}

// links are the pages around this one (RFC 8288): next only when there is one, last always. A key among the
// parameters is not repeated.
func links(u *url.URL, page, perPage, total int) string {
	last := max(1, (total+perPage-1)/perPage)
	link := func(to int, relation string) string {
		query := u.Query()
		query.Del("apikey")
		query.Set("page", strconv.Itoa(to))
		return fmt.Sprintf(`<%s?%s>; rel="%s"`, u.EscapedPath(), query.Encode(), relation)
	}
	var all []string
	if page < last {
		all = append(all, link(page+1, "next"))
	}
	return strings.Join(append(all, link(last, "last")), ", ")
}

// createUser answers POST /admin/users.
func (f *face) createUser(c echo.Context) error {
	var in adminUserRequest
	if err := read(c, &in); err != nil {
		return err
	}
	u, err := f.service.AdminCreateUser(c.Request().Context(), f.caller(c), in.user())
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, userBody(u))
}

// adminGetUser answers GET /admin/users/{id}.
func (f *face) adminGetUser(c echo.Context) error {
	id, err := userID(c)
	if err != nil {
		return err
	}
	u, err := f.service.AdminUser(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, userBody(u))
}

// adminPutUser answers PUT /admin/users/{id}.
func (f *face) adminPutUser(c echo.Context) error {
	id, err := userID(c)
	if err != nil {
		return err
	}
	var in adminUserRequest
	if err := read(c, &in); err != nil {
		return err
	}
	u, err := f.service.AdminUpdateUser(c.Request().Context(), f.caller(c), id, in.user())
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, userBody(u))
}

// adminDeleteUser answers DELETE /admin/users/{id}.
func (f *face) adminDeleteUser(c echo.Context) error {
	id, err := userID(c)
	if err != nil {
		return err
	}
	var in struct {
		Soft bool `json:"should_soft_delete"`
	}
	if err := readOptional(c, &in); err != nil {
		return err
	}
	if err := f.service.AdminDeleteUser(c.Request().Context(), f.caller(c), id, in.Soft); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, struct{}{})
}

func userID(c echo.Context) (uuid.UUID, error) {
	text := c.Param("id")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, &problem{status: http.StatusNotFound, code: auth.CodeValidationFailed, message: "user_id must be an UUID"}
	}
	return id, nil
}
