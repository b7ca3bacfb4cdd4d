package auth

import (
	"encoding/json"

	"github.com/google/uuid"
)

// userData reads the metadata that a client sends: a JSON object, or nothing.
func userData(text json.RawMessage) (map[string]json.RawMessage, *Error) {
	data := map[string]json.RawMessage{}
	if len(text) == 0 || string(text) == "null" {
		return data, nil
	}
	if err := json.Unmarshal(text, &data); err != nil {
		return nil, refuse(CodeValidationFailed, "data must be a JSON object")
	}
	return data, nil
}

// appMetadata says by which provider an account came, and by which it is known.
func appMetadata(provider string) json.RawMessage {
	text, _ := json.Marshal(map[string]any{"provider": provider, "providers": []string{provider}})
	return text
}

// emailMetadata adds to a user's own data what the server knows; the server's word wins.
func emailMetadata(data map[string]json.RawMessage, id uuid.UUID, email string, verified bool) (json.RawMessage, error) {
	known := map[string]any{"sub": id, "email": email, "email_verified": verified, "phone_verified": false}
	for name, value := range known {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, unexpected("The metadata could not be written", err)
		}
		data[name] = text
	}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, unexpected("The metadata could not be written", err)
	}
	return text, nil
}

// change splits a change of metadata into the names to set and those to delete: null
// deletes (RFC 7396 for the first level).
func change(data map[string]json.RawMessage) (set json.RawMessage, drop []string, err error) {
	kept := make(map[string]json.RawMessage, len(data))
	drop = []string{}
	for name, value := range data {
		if string(value) == "null" {
			drop = append(drop, name)
			continue
		}
		kept[name] = value
	}
	set, err = json.Marshal(kept)
	return set, drop, err
}
