package api

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth"
	"basalt/auth/limit"
	"basalt/auth/seal"
	"basalt/store/managed"
)

const (
	// encryptionKeyFile holds, in the data folder of the managed database, the master keys of secrets at rest: one a
	// line, the current one first.
	encryptionKeyFile = "encryption-key"

	// minEncryptionKey is the least length of a key that is given, in bytes.
	minEncryptionKey = 32

	// encryptionPurpose tells derived keys apart (RFC 5869 §3.2).
	encryptionPurpose = "basalt encryption key"
)

// EncryptionKeys are the master keys of secrets at rest, current one first: those of the setting, those of the managed
// database's data folder, and the one that follows from the JWT secret. Files are read again each time. The data
// folder's file is made when it is not there.
func (s *Settings) EncryptionKeys(jwtSecret auth.Secret) seal.Masters {
	derived := auth.DerivedEncryptionKey(jwtSecret)
	return func() (seal.Ring, error) {
		texts, err := s.givenEncryptionKeys()
		if err != nil {
			return nil, &SettingError{"encryption-key", err.Error()}
		}
		if s.overManaged() {
			kept, err := keptEncryptionKeys(filepath.Join(s.Data, encryptionKeyFile))
			if err != nil {
				return nil, err
			}
			texts = append(texts, kept...)
		}
		var ring seal.Ring
		for _, text := range texts {
			ring = append(ring, seal.Derive(text, encryptionPurpose))
		}
		return append(ring, derived), nil
	}
}

// Vault opens and seals the secrets that a database keeps.
func (s *Settings) Vault(db limit.Sender, jwtSecret auth.Secret) *seal.Vault {
	return seal.NewVault(db, s.EncryptionKeys(jwtSecret))
}

// overManaged tells whether the database is the managed one of the data folder, also when a shell has its address from
// `basalt keys --env`.
func (s *Settings) overManaged() bool {
	if s.DatabaseURL == "" {
		return true
	}
	config, err := pgconn.ParseConfig(s.DatabaseURL.Reveal())
	return err == nil && managed.IsSocketFolder(s.Data, config.Host)
}

// givenEncryptionKeys are the keys of the setting.
func (s *Settings) givenEncryptionKeys() ([]string, error) {
	text, err := fileOrText(s.EncryptionKey.Reveal())
	if err != nil {
		return nil, err
	}
	keys := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
	for i, key := range keys {
		if keys[i] = strings.TrimSpace(key); len(keys[i]) < minEncryptionKey {
			return nil, fmt.Errorf("a key has %d bytes, %d are the least; make one with: openssl rand -base64 48", len(keys[i]), minEncryptionKey)
		}
	}
	return keys, nil
}

// keptEncryptionKeys reads the file of the data folder, which is made first when there is none.
func keptEncryptionKeys(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeEncryptionKeyFile(path); err != nil {
			return nil, fmt.Errorf("make the encryption key: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the encryption key: %w", err)
	}
	keys := strings.Fields(string(text))
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s is empty: put it back from a backup", path)
	}
	return keys, nil
}

// makeEncryptionKeyFile writes a new key. The file appears whole, and only where there was none: of two processes
// that make one at once the second reads what the first has made.
func makeEncryptionKeyFile(path string) error {
	whole, err := writeAside(path, []string{newEncryptionKey()})
	if err != nil {
		return err
	}
	defer os.Remove(whole)
	if err := os.Link(whole, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// newEncryptionKey has 256 random bits.
func newEncryptionKey() string { return rand.Text() + rand.Text() }

// writeAside writes keys to a file beside the one that they are for, which only its owner may read.
func writeAside(path string, keys []string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), encryptionKeyFile+".*")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(strings.Join(keys, "\n") + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// keptKeyPath is where the managed database's master keys are; empty where they are not in a file.
func (s *Settings) keptKeyPath() string {
	if !s.overManaged() || s.EncryptionKey != "" {
		return ""
	}
	return filepath.Join(s.Data, encryptionKeyFile)
}

// BeginRotation puts a new master key before those of the managed database. A master key that was given is replaced where it
// was given.
func (s *Settings) BeginRotation() error {
	path := s.keptKeyPath()
	if path == "" {
		return nil
	}
	keys, err := keptEncryptionKeys(path)
	if err != nil {
		return err
	}
	return replaceKeyFile(path, append([]string{newEncryptionKey()}, keys...))
}

// EndRotation forgets the master keys of the managed database under which nothing is sealed any more. The last one before
// the current stays, for what is sealed in the moment of the change.
func (s *Settings) EndRotation() error {
	path := s.keptKeyPath()
	if path == "" {
		return nil
	}
	keys, err := keptEncryptionKeys(path)
	if err != nil || len(keys) <= 2 {
		return err
	}
	return replaceKeyFile(path, keys[:2])
}

// replaceKeyFile lets the file have all of the keys or what it had.
func replaceKeyFile(path string, keys []string) error {
	whole, err := writeAside(path, keys)
	if err == nil {
		err = os.Rename(whole, path)
	}
	if err != nil {
		return fmt.Errorf("write the encryption key: %w", err)
	}
	return nil
}
