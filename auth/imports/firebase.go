package imports

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"basalt/auth/password"
)

// HashConfig are the password hash parameters of a Firebase project, as its console shows them.
type HashConfig struct {
	// SignerKey and SaltSeparator are base64.
	SignerKey, SaltSeparator string
	Rounds, MemoryCost       int
}

// ParseHashConfig reads the block that the console shows:
//
//	hash_config {
//	  algorithm: SCRYPT,
//	  base64_signer_key: …,
//	  base64_salt_separator: Bw==,
//	  rounds: 8,
//	  mem_cost: 14,
//	}
func ParseHashConfig(text string) (HashConfig, error) {
	var c HashConfig
	var err error
	for _, line := range regexp.MustCompile(`(\w+)\s*:\s*"?([^\s",]+)`).FindAllStringSubmatch(text, -1) {
		switch line[1] {
		case "algorithm":
			if line[2] != "SCRYPT" {
				return c, fmt.Errorf("the algorithm is %s: Firebase's own is SCRYPT", line[2])
			}
		case "base64_signer_key":
			c.SignerKey = line[2]
		case "base64_salt_separator":
			c.SaltSeparator = line[2]
		case "rounds":
			c.Rounds, err = strconv.Atoi(line[2])
		case "mem_cost":
			c.MemoryCost, err = strconv.Atoi(line[2])
		}
		if err != nil {
			return c, fmt.Errorf("%s is %q, not a number", line[1], line[2])
		}
	}
	if c.SignerKey == "" {
		return c, fmt.Errorf("there is no base64_signer_key in it")
	}
	return c, nil
}

// parameters are those of password; nil when the project's key is not known.
func (c HashConfig) parameters() (*password.Firebase, error) {
	if c.SignerKey == "" {
		return nil, nil
	}
	decode := func(name, text string) ([]byte, error) {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("the %s is not base64", name)
		}
		return bytes, nil
	}
	key, err := decode("signer key", c.SignerKey)
	if err != nil {
		return nil, err
	}
	separator, err := decode("salt separator", c.SaltSeparator)
	if err != nil {
		return nil, err
	}
	p := &password.Firebase{SignerKey: key, SaltSeparator: separator, Rounds: c.Rounds, MemoryCost: c.MemoryCost}
	// A hash of the usual lengths shows whether hashes of these costs will be accepted.
	if _, err := p.Stored(strings.Repeat("A", 86)+"==", "AAAAAAAAAAAAAA=="); err != nil {
		return nil, err
	}
	return p, nil
}

// Firebase reads the accounts of a Firebase project as `firebase auth:export accounts.json --format=json` writes them.
// An account's id is derived from Firebase's, which stays in app_metadata as firebase_id.
func Firebase(path string, config HashConfig) (Source, error) {
	parameters, err := config.parameters()
	if err != nil {
		return nil, err
	}
	return firebase{path, parameters}, nil
}

type firebase struct {
	path       string
	parameters *password.Firebase
}

func (s firebase) each(ctx context.Context, progress func(done, total int64), take func(row) error) error {
	f, err := open(ctx, s.path, 0, 1, progress)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.start[0] != '{' && f.start[0] != '[' {
		return wrong("%s is not JSON: export with firebase auth:export accounts.json --format=json", s.path)
	}
	return objects(f, "users", func(n int, text json.RawMessage) error {
		if !utf8.Valid(text) {
			return take(row{place: placeOf(n, ""), refused: notText})
		}
		var u firebaseUser
		if err := json.Unmarshal(text, &u); err != nil {
			return take(row{place: placeOf(n, u.ID), refused: "it is not an account of Firebase: " + err.Error()})
		}
		if s.parameters == nil && u.PasswordHash != "" {
			return wrong("the accounts have passwords, which can be checked only with the project's hash parameters: " +
				"give the block that the Firebase console shows (Authentication, Users, ⋮, Password hash parameters) with --hash-config FILE")
		}
		place := placeOf(n, u.ID)
		a, refused, err := u.account(s.parameters)
		if err != nil {
			return err
		}
		return take(row{place: place, account: a, refused: refused})
	})
}

// firebaseUser is an account as it is exported; times are milliseconds since 1970.
type firebaseUser struct {
	ID               string `json:"localId"`
	Email            string `json:"email"`
	EmailVerified    bool   `json:"emailVerified"`
	PasswordHash     string `json:"passwordHash"`
	Salt             string `json:"salt"`
	DisplayName      string `json:"displayName"`
	PhotoURL         string `json:"photoUrl"`
	CreatedAt        string `json:"createdAt"`
	LastSignedInAt   string `json:"lastSignedInAt"`
	PhoneNumber      string `json:"phoneNumber"`
	Disabled         bool   `json:"disabled"`
	CustomAttributes string `json:"customAttributes"`
	Providers        []struct {
		ProviderID  string `json:"providerId"`
		RawID       string `json:"rawId"`
		Email       string `json:"email"`
		DisplayName string `json:"displayName"`
		PhotoURL    string `json:"photoUrl"`
	} `json:"providerUserInfo"`
}

// firebaseProvider gives our name of a provider, "" when there is none.
func firebaseProvider(name string) string {
	switch name {
	case "google.com", "facebook.com", "github.com", "apple.com", "twitter.com":
		return strings.TrimSuffix(name, ".com")
	case "microsoft.com":
		return "azure"
	}
	return ""
}

func (u firebaseUser) account(parameters *password.Firebase) (a *Account, refused string, err error) {
	if u.ID == "" {
		return nil, "it has no localId", nil
	}
	a = &Account{
		ID:    derivedID("firebase", u.ID),
		Email: pointer(u.Email), Phone: pointer(u.PhoneNumber),
		CreatedAt: orElse(instant(u.CreatedAt), time.Now().UTC().Format(time.RFC3339Nano)),
	}
	a.UpdatedAt = a.CreatedAt
	a.LastSignInAt = pointer(instant(u.LastSignedInAt))
	if a.Email != nil && u.EmailVerified {
		a.EmailConfirmedAt = &a.CreatedAt
	}
	if a.Phone != nil {
		a.PhoneConfirmedAt = &a.CreatedAt // Firebase has none that is not
	}
	if u.Disabled {
		a.BannedUntil = pointer("infinity")
	}
	if u.PasswordHash != "" {
		stored, err := parameters.Stored(u.PasswordHash, u.Salt)
		if err != nil {
			return nil, err.Error(), nil
		}
		a.PasswordHash = &stored
	}
	a.Own, a.App, a.User = true, map[string]any{}, map[string]any{}
	if u.CustomAttributes != "" {
		if json.Unmarshal([]byte(u.CustomAttributes), &a.App) != nil || a.App == nil {
			return nil, "its customAttributes are not a JSON object", nil
		}
	}
	a.App["firebase_id"] = u.ID
	if u.DisplayName != "" {
		a.User["full_name"], a.User["name"] = u.DisplayName, u.DisplayName
	}
	if u.PhotoURL != "" {
		a.User["avatar_url"] = u.PhotoURL
	}
	for _, p := range u.Providers {
		provider := firebaseProvider(p.ProviderID)
		if provider == "" || p.RawID == "" {
			continue
		}
		data, err := json.Marshal(map[string]any{
			"sub": p.RawID, "provider_id": p.RawID, "email": p.Email, "email_verified": u.EmailVerified && p.Email == u.Email,
			"full_name": p.DisplayName, "avatar_url": p.PhotoURL,
		})
		if err != nil {
			return nil, "", err
		}
		a.addIdentity(provider, p.RawID, data)
	}
	a.Anonymous = a.Email == nil && a.Phone == nil && len(a.Identities) == 0
	return a, "", nil
}

// instant turns milliseconds since 1970 into a time; what is none becomes "".
func instant(milliseconds string) string {
	n, err := strconv.ParseInt(milliseconds, 10, 64)
	if err != nil || n <= 0 || n > 253402300799999 {
		return ""
	}
	return time.UnixMilli(n).UTC().Format(time.RFC3339Nano)
}
