package auth

import "strings"

// maxPhone is the most digits of a number with its country's code (E.164 §6).
const maxPhone = 15

// normalizePhone gives the one spelling of a telephone number under which an account is kept: digits with the
// country's code, without the plus.
func normalizePhone(text string) (string, *Error) {
	number := strings.TrimPrefix(strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "").Replace(strings.TrimSpace(text)), "+")
	if len(number) < 2 || len(number) > maxPhone || number[0] == '0' || strings.Trim(number, "0123456789") != "" {
		return "", refuse(CodeValidationFailed, "Invalid phone number format (E.164 required)")
	}
	return number, nil
}
