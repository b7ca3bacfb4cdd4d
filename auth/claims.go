package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"basalt/auth/hook"
	"basalt/auth/limit"
)

type claimsEvent struct {
	Metadata hook.Metadata   `json:"metadata"`
	UserID   uuid.UUID       `json:"user_id"`
	Claims   json.RawMessage `json:"claims"`
	Method   string          `json:"authentication_method"`
}

// customize lets the hook change the claims of an access token. It gives them with the time at which they end.
func (s *Service) customize(ctx context.Context, db limit.Sender, caller Caller, g grant, claims json.RawMessage) (json.RawMessage, time.Time, error) {
	h := s.hooks.CustomAccessToken
	var answer struct {
		Claims json.RawMessage `json:"claims"`
	}
	input := claimsEvent{h.Metadata(caller.origin()), g.user.ID, claims, g.method}
	if err := s.call(ctx, db, h, input, &answer); err != nil {
		return nil, time.Time{}, err
	}
	if len(answer.Claims) == 0 {
		return nil, time.Time{}, badClaims(errors.New("output claims field is missing"))
	}
	checked, expires, err := checkClaims(answer.Claims)
	if err == nil {
		err = g.keepsClient(checked)
	}
	if err != nil {
		return nil, time.Time{}, badClaims(err)
	}
	return checked, expires, nil
}

// keepsClient refuses claims that make of an OAuth client's token one of its user, or of another client.
func (g grant) keepsClient(claims json.RawMessage) error {
	var held struct {
		ClientID string `json:"client_id"`
	}
	err := json.Unmarshal(claims, &held)
	if err == nil && g.client != uuid.Nil && held.ClientID != g.client.String() {
		err = errors.New("client_id must stay what it is")
	}
	return err
}

func badClaims(why error) *Error {
	return &Error{
		Code: CodeUnexpectedFailure, Status: http.StatusInternalServerError, Cause: why,
		Message: "output claims do not conform to the expected schema: " + why.Error(),
	}
}

// kind is what a claim may be.
type kind string

const (
	aText    kind = "a string"
	aNumber  kind = "an integer"
	anObject kind = "an object"
	aList    kind = "an array"
)

// checkClaims refuses claims without which, or with other forms of which, the token would be nobody's. What it gives
// holds each name once: readers differ over which of two counts (RFC 7519 §4).
func checkClaims(text json.RawMessage) (json.RawMessage, time.Time, error) {
	var claims map[string]json.RawMessage
	if err := json.Unmarshal(text, &claims); err != nil || claims == nil {
		return nil, time.Time{}, errors.New("claims must be an object")
	}
	for _, claim := range []struct {
		name     string
		required bool
		kinds    []kind
	}{
		{"aud", true, []kind{aText, aList}},
		{"exp", true, []kind{aNumber}},
		{"iat", true, []kind{aNumber}},
		{"sub", true, []kind{aText}},
		{"email", true, []kind{aText}},
		{"phone", true, []kind{aText}},
		{"role", true, []kind{aText}},
		{"aal", true, []kind{aText}},
		{"session_id", true, []kind{aText}},
		{"jti", false, []kind{aText}},
		{"iss", false, []kind{aText}},
		{"nbf", false, []kind{aNumber}},
		{"app_metadata", false, []kind{anObject}},
		{"user_metadata", false, []kind{anObject}},
		{"amr", false, []kind{aList}},
		{"client_id", false, []kind{aText}},
	} {
		value, there := claims[claim.name]
		if !there {
			if claim.required {
				return nil, time.Time{}, errors.New(claim.name + " is required")
			}
			continue
		}
		if !isOf(claim.kinds, value) {
			return nil, time.Time{}, errors.New(claim.name + " must be " + join(claim.kinds))
		}
	}
	seconds, err := strconv.ParseInt(string(claims["exp"]), 10, 64)
	if err != nil {
		return nil, time.Time{}, err
	}
	written, err := json.Marshal(claims)
	return written, time.Unix(seconds, 0).UTC(), err
}

func isOf(kinds []kind, value json.RawMessage) bool {
	value = bytes.TrimSpace(value)
	for _, k := range kinds {
		switch k {
		case aText:
			if value[0] == '"' {
				return true
			}
		case aNumber:
			if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				return true
			}
		case anObject:
			if value[0] == '{' {
				return true
			}
		case aList:
			if value[0] == '[' {
				return true
			}
		}
	}
	return false
}

func join(kinds []kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, " or ")
}
