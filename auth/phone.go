package auth

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// maxPhone is the most digits of a number with its country's code (E.164 §6).
const maxPhone = 15

const userByPhone = `
select` + userColumns + `
from auth.users u
where u.phone = $1
and not u.is_sso_user
and u.deleted_at is null`

// phoneOf reads a telephone number and the channel of texts to it.
func (s *Service) phoneOf(phone, channel string) (string, *Error) {
	switch {
	case !s.links.Phone:
		return "", refuse(CodePhoneProviderDisabled, "Unsupported phone provider")
	case channel != "" && channel != "sms" && channel != "whatsapp":
		return "", refuse(CodeValidationFailed, "Invalid channel, supported values are 'sms' or 'whatsapp'")
	}
	return normalizePhone(phone)
}

// normalizePhone gives the one spelling of a telephone number under which an account is kept: digits with the
// country's code, without the plus.
func normalizePhone(text string) (string, *Error) {
	number := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "").Replace(strings.TrimSpace(text))
	number = strings.TrimPrefix(number, "+")
	if len(number) < 2 || len(number) > maxPhone || number[0] == '0' || strings.Trim(number, "0123456789") != "" {
		return "", refuse(CodeValidationFailed, "Invalid phone number format (E.164 required)")
	}
	return number, nil
}

// phoneMetadata is what the server knows about an account with a telephone number.
func phoneMetadata(id uuid.UUID, phone string, verified bool) metadata {
	return metadata{
		"sub":            json.RawMessage(strconv.Quote(id.String())),
		"phone":          json.RawMessage(strconv.Quote(phone)),
		"email_verified": json.RawMessage("false"),
		"phone_verified": json.RawMessage(strconv.FormatBool(verified)),
	}
}
