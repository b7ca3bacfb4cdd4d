package api

import (
	"fmt"
	"io"
	"os"
	"strings"

	"basalt/auth/token"
)

// mostSettingFile bounds a file that a setting names.
const mostSettingFile = 1 << 20

// readSettingFile reads a file that a setting names.
func readSettingFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostSettingFile+1))
	if err != nil {
		return "", err
	}
	if len(text) > mostSettingFile {
		return "", fmt.Errorf("%s is larger than %d bytes", path, mostSettingFile)
	}
	return string(text), nil
}

// signingKeys are the operator's own keys to sign tokens with.
func (s *Settings) signingKeys() ([]*token.Pair, error) {
	text, err := fileOrText(s.JWTSigningKeys.Reveal())
	if err != nil || text == "" {
		return nil, err
	}
	return token.ParsePairs([]byte(text))
}

// foreignKeys are the keys of other issuers.
func (s *Settings) foreignKeys() (token.Ring, error) {
	text := s.JWTKeys.Reveal()
	if path, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if text, err = readSettingFile(path); err != nil {
			return nil, err
		}
	}
	if text == "" {
		return nil, nil
	}
	return token.ParseKeys([]byte(text))
}
