package api

import (
	"fmt"

	"basalt/auth/password"
)

// PasswordSettings are the settings of passwords.
type PasswordSettings struct {
	PasswordMinLength  int    `flag:"password-min-length" default:"8" title:"Password: least length" help:"fewest characters of a new password"`
	PasswordCharacters string `flag:"password-characters" title:"Password: required characters" help:"sets of characters, divided by colons, of each of which a new password needs one, such as abc:ABC:0123456789; \\: is a colon"`
	HashMemory         Bytes  `flag:"password-hash-memory" default:"19MiB" title:"Password hash: memory" help:"memory of one Argon2id hash; with its passes and lanes it is what a guess costs. Stored hashes of other costs are renewed at the next sign-in"`
	HashPasses         int    `flag:"password-hash-passes" default:"2" title:"Password hash: passes" help:"passes of a hash over its memory"`
	HashLanes          int    `flag:"password-hash-lanes" default:"1" title:"Password hash: lanes" help:"lanes of a hash, which may run in parallel"`
}

// mostPasswordLength is the longest least length: longer ones nobody types.
const mostPasswordLength = 128

// What a hash may cost at most: everybody who signs in waits for it.
const (
	mostHashLanes  = 16
	mostHashPasses = 16
	mostHashMemory = Bytes(128 << 20)
)

func (s *PasswordSettings) checkPasswords() error {
	if s.PasswordMinLength < 1 || s.PasswordMinLength > mostPasswordLength {
		return &SettingError{"password-min-length", fmt.Sprintf("%d is not a length from 1 to %d", s.PasswordMinLength, mostPasswordLength)}
	}
	if _, err := password.ParseRequired(s.PasswordCharacters); err != nil {
		return &SettingError{"password-characters", err.Error()}
	}
	if s.HashLanes < 1 || s.HashLanes > mostHashLanes {
		return &SettingError{"password-hash-lanes", fmt.Sprintf("%d is not a number from 1 to %d", s.HashLanes, mostHashLanes)}
	}
	if s.HashPasses < 1 || s.HashPasses > mostHashPasses {
		return &SettingError{"password-hash-passes", fmt.Sprintf("%d is not a number from 1 to %d", s.HashPasses, mostHashPasses)}
	}
	if least := password.LeastMemoryKiB(uint32(s.HashPasses)); s.HashMemory < Bytes(least)<<10 {
		return &SettingError{"password-hash-memory", fmt.Sprintf("%s is less than OWASP's least for %d passes (%s)", s.HashMemory, s.HashPasses, Bytes(least)<<10)}
	}
	if s.HashMemory > mostHashMemory {
		return &SettingError{"password-hash-memory", fmt.Sprintf("%s is more than %s", s.HashMemory, mostHashMemory)}
	}
	return nil
}

// passwordParameters are the costs of hashes.
func (s *PasswordSettings) passwordParameters() password.Parameters {
	return password.Parameters{MemoryKiB: uint32(s.HashMemory >> 10), Passes: uint32(s.HashPasses), Lanes: uint8(s.HashLanes)}
}

// PasswordPolicy is what is asked of passwords.
func (s *PasswordSettings) PasswordPolicy() password.Policy {
	sets, _ := password.ParseRequired(s.PasswordCharacters) // checked when the settings were
	return password.Policy{MinLength: s.PasswordMinLength, Required: sets}
}
