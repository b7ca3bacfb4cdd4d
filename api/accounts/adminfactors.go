package accounts

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) adminFactorRoutes() routes {
	return routes{
		"/admin/users/:id/factors": {http.MethodGet: f.admin(f.adminFactors)},
		"/admin/users/:id/factors/:factor_id": {
			http.MethodPut:    f.admin(f.adminPutFactor),
			http.MethodDelete: f.admin(f.adminDeleteFactor),
		},
	}
}

// adminFactors answers GET /admin/users/{id}/factors.
func (f *face) adminFactors(c echo.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	factors, err := f.service.AdminFactors(c.Request().Context(), user)
	if err != nil {
		return err
	}
	s := shape("[")
	for i := range factors {
		if i > 0 {
			s = append(s, ',')
		}
		s.open()
		s.factor(&factors[i])
		s.close()
	}
	return c.JSONBlob(http.StatusOK, append(s, ']'))
}

// adminPutFactor answers PUT /admin/users/{id}/factors/{factor_id}.
func (f *face) adminPutFactor(c echo.Context) error {
	user, id, err := userAndFactor(c)
	if err != nil {
		return err
	}
	var in struct {
		FriendlyName string `json:"friendly_name"`
		Phone        string `json:"phone"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	changed, err := f.service.AdminUpdateFactor(c.Request().Context(), f.caller(c), user, id, auth.FactorChange{
		FriendlyName: in.FriendlyName, Phone: in.Phone,
	})
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, factorBody(changed))
}

// adminDeleteFactor answers DELETE /admin/users/{id}/factors/{factor_id} with what the factor was.
func (f *face) adminDeleteFactor(c echo.Context) error {
	user, id, err := userAndFactor(c)
	if err != nil {
		return err
	}
	gone, err := f.service.AdminDeleteFactor(c.Request().Context(), f.caller(c), user, id, nil)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, factorBody(gone))
}

func factorBody(factor *auth.Factor) []byte {
	var s shape
	s.open()
	s.factor(factor)
	s.close()
	return s
}

func userAndFactor(c echo.Context) (user, id uuid.UUID, err error) {
	if user, err = userID(c); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err = factorID(c)
	return user, id, err
}
