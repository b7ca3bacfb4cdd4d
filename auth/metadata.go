package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"

	"github.com/google/uuid"
)

// metadata is a JSON object that an account carries, by its members. As a change, a member that is null deletes.
type metadata map[string]json.RawMessage

const (
	// maxUserMetadata bounds what users write about themselves: it is read whole at each look at the account.
	maxUserMetadata = 256 << 10
	// maxAppMetadata bounds what stands in every access token of the account: tokens have to fit into a header.
	maxAppMetadata = 4 << 10
	// maxExponent bounds numbers. The database writes them out: 1e100000 has a hundred thousand digits.
	maxExponent = 308
)

// readMetadata reads the JSON object under a name in a request; nothing and null are an empty one.
func readMetadata(name string, text json.RawMessage, bound int) (metadata, *Error) {
	m := metadata{}
	if len(text) == 0 || string(text) == "null" {
		return m, nil
	}
	if json.Unmarshal(text, &m) != nil {
		return nil, refuse(CodeValidationFailed, name+" must be a JSON object")
	}
	size, fault := measure(text)
	switch {
	case fault != "":
		return nil, refuse(CodeValidationFailed, name+" holds "+fault)
	case size > bound:
		return nil, tooLarge(name, bound)
	}
	return m, nil
}

// CheckMetadata tells why an account cannot carry metadata that it brings from elsewhere: what is no object, larger than
// the API takes it, or holds what the database cannot keep, or would write out at a length beyond all measure.
func CheckMetadata(app, user json.RawMessage) error {
	for _, part := range []struct {
		name  string
		text  json.RawMessage
		bound int
	}{{"app_metadata", app, maxAppMetadata}, {"user_metadata", user, maxUserMetadata}} {
		if _, refusal := readMetadata(part.name, part.text, part.bound); refusal != nil {
			return errors.New(refusal.Message)
		}
	}
	return nil
}

// CheckIdentity tells why what another server says of a user cannot be kept. The reasons are those of CheckMetadata.
func CheckIdentity(data json.RawMessage) error {
	if _, refusal := readMetadata("identity_data", data, maxUserMetadata); refusal != nil {
		return errors.New(refusal.Message)
	}
	return nil
}

func tooLarge(name string, bound int) *Error {
	return refuse(CodeValidationFailed, fmt.Sprintf("%s must not be larger than %d KiB", name, bound>>10))
}

// merged is how large a change makes an object at most.
func (m metadata) merged(into json.RawMessage) int {
	kept := metadata{}
	if json.Unmarshal(into, &kept) != nil {
		kept = metadata{}
	}
	for name, value := range m {
		kept[name] = value
		if string(value) == "null" {
			delete(kept, name)
		}
	}
	size := 2
	for name, value := range kept {
		// The database writes `"name": value, `.
		n, _ := measure(value)
		size += len(strconv.Quote(name)) + n + 4
	}
	return size
}

// change splits a change into the members to set and the names to delete (RFC 7396 for the first level).
func (m metadata) change() (set json.RawMessage, drop []string, err error) {
	kept := make(metadata, len(m))
	drop = []string{}
	for name, value := range m {
		if string(value) == "null" {
			drop = append(drop, name)
			continue
		}
		kept[name] = value
	}
	set, err = kept.text()
	return set, drop, err
}

func (m metadata) text() (json.RawMessage, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, unexpected("The metadata could not be written", err)
	}
	return text, nil
}

// measure tells how long JSON is when the database writes it out, or what it holds that the database cannot keep:
// NUL, half a surrogate pair, numbers beyond all measure. The text is known to be JSON.
func measure(text json.RawMessage) (size int, fault string) {
	size = len(text)
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			var ok bool
			if i, ok = escape(text, i); !ok {
				return 0, "text that the database cannot keep"
			}
		case !quoted && (c == 'e' || c == 'E') && '0' <= text[i-1] && text[i-1] <= '9':
			exponent := i + 1
			for i+1 < len(text) && (text[i+1] == '+' || text[i+1] == '-' || '0' <= text[i+1] && text[i+1] <= '9') {
				i++
			}
			n, err := strconv.Atoi(string(text[exponent : i+1]))
			if err != nil || n < -maxExponent || n > maxExponent {
				return 0, "a number that is too large or too small"
			}
			size += max(n, -n)
		}
	}
	return size, ""
}

// escape gives the last place of the escape sequence that begins at a place, and whether it is text.
func escape(text json.RawMessage, at int) (int, bool) {
	unit, found := codeUnit(text, at)
	switch {
	case !found:
		return at + 1, true
	case unit == 0:
		return at, false
	case !utf16.IsSurrogate(unit):
		return at + 5, true
	}
	second, _ := codeUnit(text, at+6)
	return at + 11, utf16.DecodeRune(unit, second) != '\uFFFD'
}

// codeUnit reads a sequence such as \u00e9.
func codeUnit(text json.RawMessage, at int) (rune, bool) {
	if at+6 > len(text) || text[at] != '\\' || text[at+1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
	return rune(unit), err == nil
}

// appMetadata says by which provider an account came, the first, and by which it is known.
func appMetadata(providers ...string) metadata {
	names, _ := json.Marshal(providers) // strings are never refused
	return metadata{"provider": json.RawMessage(strconv.Quote(providers[0])), "providers": names}
}

// emailMetadata is what the server knows about an account with an e-mail address.
func emailMetadata(id uuid.UUID, email string, verified bool) metadata {
	quoted, _ := json.Marshal(email) // a string is never refused
	return metadata{
		"sub":            json.RawMessage(strconv.Quote(id.String())),
		"email":          quoted,
		"email_verified": json.RawMessage(strconv.FormatBool(verified)),
		"phone_verified": json.RawMessage("false"),
	}
}
