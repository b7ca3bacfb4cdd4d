package accounts

import (
	"encoding/json"
	"net/http"

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
	p, err := pageOf(c)
	if err != nil {
		return err
	}
	found, err := f.service.AdminListUsers(c.Request().Context(), p.number, p.size)
	if err != nil {
		return err
	}
	p.describe(c, found.Total)
	return c.JSONBlob(http.StatusOK, userListBody(found.Users))
}

// createUser answers POST /admin/users.
func (f *face) createUser(c echo.Context) error {
	var in adminUserRequest
	if err := read(c, &in); err != nil {
		return err
	}
	u, err := f.service.AdminCreateUser(c.Request().Context(), f.caller(c), in.user(), nil)
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
	u, err := f.service.AdminUpdateUser(c.Request().Context(), f.caller(c), id, in.user(), nil)
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
	if err := f.service.AdminDeleteUser(c.Request().Context(), f.caller(c), id, in.Soft, nil); err != nil {
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
