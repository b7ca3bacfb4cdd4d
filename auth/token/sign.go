package token

import (
	"encoding/json"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// Sign makes an HS256 token of claims that are already JSON: what stands in it is what
// the caller wrote, digit for digit.
func Sign(claims json.RawMessage, secret, kid string) (string, error) {
	unsigned := jwt.NewWithClaims(jwt.SigningMethodHS256, written{text: claims})
	unsigned.Header["kid"] = kid
	signed, err := unsigned.SignedString([]byte(secret))
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

type written struct {
	jwt.MapClaims
	text json.RawMessage
}

func (w written) MarshalJSON() ([]byte, error) { return w.text, nil }
