package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/token"
)

// signingKeys puts the routes of the keys that tokens are signed with on the group.
func (o *Options) signingKeys(g *echo.Group) {
	o.brief(g, "GET", "/signing-keys", owner, o.listSigningKeys)
	o.brief(g, "POST", "/signing-keys", owner, elevated(o.addSigningKey))
	o.brief(g, "POST", "/signing-keys/promote", owner, elevated(o.promoteSigningKey))
	o.brief(g, "DELETE", "/signing-keys/:id", owner, elevated(o.revokeSigningKey))
}

// SigningKeyBody is what may be known of a key that tokens are signed with.
type SigningKeyBody struct {
	ID        string      `json:"id"`
	Algorithm string      `json:"algorithm"`
	State     token.State `json:"state" tstype:"'current' | 'standby' | 'previous'"`
	CreatedAt time.Time   `json:"created_at"`
	ChangedAt time.Time   `json:"changed_at"`
}

// SigningKeysBody is the answer of GET /signing-keys. Without a current one the JWT secret signs.
type SigningKeysBody struct {
	Keys       []SigningKeyBody `json:"keys"`
	Algorithms []string         `json:"algorithms"`
	// PublishedFor is how long a standby key must have been published before it may sign, in seconds.
	PublishedFor int `json:"published_for"`
}

// SigningKeyRequest is the body of POST /signing-keys.
type SigningKeyRequest struct {
	Algorithm string `json:"algorithm"`
}

// listSigningKeys answers GET /signing-keys.
func (o *Options) listSigningKeys(c echo.Context) error {
	keys, err := auth.ListSigningKeys(c.Request().Context(), o.DB)
	if err != nil {
		return err
	}
	body := SigningKeysBody{Keys: make([]SigningKeyBody, len(keys)), Algorithms: token.PairAlgorithms(), PublishedFor: int(auth.JWKSLife.Seconds())}
	for i, key := range keys {
		body.Keys[i] = SigningKeyBody{key.ID, key.Algorithm, key.State, key.CreatedAt.UTC(), key.ChangedAt.UTC()}
	}
	return c.JSON(http.StatusOK, body)
}

// addSigningKey answers POST /signing-keys.
func (o *Options) addSigningKey(c echo.Context) error {
	var in SigningKeyRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if !slices.Contains(token.PairAlgorithms(), in.Algorithm) {
		return refuse(http.StatusUnprocessableEntity, "algorithm_unknown", "The algorithm must be one of "+join(token.PairAlgorithms()))
	}
	return o.changeSigningKeys(c, func(ctx context.Context, tx pgx.Tx) (administrator.Change, error) {
		id, err := auth.AddSigningKey(ctx, tx, o.Vault.Over(tx), in.Algorithm)
		return administrator.Change{Action: "signing_key.add", Target: id, After: in}, err
	})
}

// promoteSigningKey answers POST /signing-keys/promote.
func (o *Options) promoteSigningKey(c echo.Context) error {
	return o.changeSigningKeys(c, func(ctx context.Context, tx pgx.Tx) (administrator.Change, error) {
		id, err := auth.PromoteSigningKey(ctx, tx, auth.JWKSLife)
		return administrator.Change{Action: "signing_key.promote", Target: id}, err
	})
}

// revokeSigningKey answers DELETE /signing-keys/{id}.
func (o *Options) revokeSigningKey(c echo.Context) error {
	return o.changeSigningKeys(c, func(ctx context.Context, tx pgx.Tx) (administrator.Change, error) {
		id := c.Param("id")
		return administrator.Change{Action: "signing_key.revoke", Target: id}, auth.RevokeSigningKey(ctx, tx, id)
	})
}

// changeSigningKeys makes a change together with its row in the audit log: neither is kept without the other.
func (o *Options) changeSigningKeys(c echo.Context, change func(context.Context, pgx.Tx) (administrator.Change, error)) error {
	ctx := c.Request().Context()
	err := pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		made, err := change(ctx, tx)
		if err != nil {
			return ofSigningKeys(err)
		}
		return o.audit(c, tx, made)
	})
	if err != nil {
		return err
	}
	return o.listSigningKeys(c)
}

// ofSigningKeys gives what the rules of keys refuse its status.
func ofSigningKeys(err error) error {
	if errors.Is(err, auth.ErrStandbyYoung) {
		return refuse(http.StatusConflict, "standby_young", "the standby key has not been published for ten minutes: others may keep copies of the keys without it")
	}
	for refusal, code := range map[error]string{auth.ErrNoStandby: "no_standby", auth.ErrKeyInUse: "key_in_use", auth.ErrStandbyThere: "standby_there"} {
		if errors.Is(err, refusal) {
			return refuse(http.StatusConflict, code, err.Error())
		}
	}
	if errors.Is(err, auth.ErrNoSuchKey) {
		return refuse(http.StatusNotFound, "not_found", err.Error())
	}
	return err
}
