package provider

import (
	"encoding/json"
	"strings"
)

const (
	// maxSubject bounds the name of a user at a server (OIDC Core §2).
	maxSubject = 255
	// consumers is Microsoft's tenant of private persons, whose addresses it has checked.
	consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
)

// Profile is what a server says about a user.
type Profile struct {
	// Subject is who the user is at the server, for ever.
	Subject string
	// Email is empty when none is known. It is good for finding an account only when the server has verified it.
	Email         string
	EmailVerified bool
	// Data is what is kept of it, the above included.
	Data map[string]any
}

// fields are those of a profile's data that are not empty.
type fields struct {
	name, fullName, picture, preferred, user, nickname, given, family, locale, profile, website string
	custom                                                                                      map[string]any
}

func newProfile(subject, email string, verified bool, f fields) Profile {
	p := Profile{Subject: subject, Email: email, EmailVerified: verified && email != "", Data: map[string]any{}}
	for name, value := range map[string]string{
		"name": f.name, "full_name": f.fullName, "picture": f.picture, "avatar_url": f.picture, "preferred_username": f.preferred,
		"user_name": f.user, "nickname": f.nickname, "given_name": f.given, "family_name": f.family, "locale": f.locale,
		"profile": f.profile, "website": f.website,
	} {
		if value != "" {
			p.Data[name] = value
		}
	}
	for name, value := range f.custom {
		if value == "" {
			delete(f.custom, name)
		}
	}
	if len(f.custom) > 0 {
		p.Data["custom_claims"] = f.custom
	}
	return p
}

// finish checks a profile and completes its data.
func (p *Profile) finish(issuer string) error {
	if p.Subject == "" || len(p.Subject) > maxSubject || clean(p.Subject) != p.Subject {
		return fault(BadToken, "the provider does not say who the user is", nil)
	}
	p.Data["iss"], p.Data["sub"], p.Data["provider_id"] = issuer, p.Subject, p.Subject
	p.Data["phone_verified"] = false
	p.Data["email_verified"] = p.EmailVerified
	if p.Email != "" {
		p.Data["email"] = p.Email
	}
	for _, name := range []string{"name", "full_name"} {
		for _, other := range []string{"full_name", "name"} {
			if p.Data[name] == nil && p.Data[other] != nil {
				p.Data[name] = p.Data[other]
			}
		}
	}
	return nil
}

// addName takes what Apple says about a user once, beside the token: nobody has signed it.
func (p *Profile) addName(text string) {
	var said struct {
		Name struct{ FirstName, LastName string }
	}
	if len(text) > maxClaim || json.Unmarshal([]byte(text), &said) != nil {
		return
	}
	if name := strings.TrimSpace(clean(said.Name.FirstName) + " " + clean(said.Name.LastName)); name != "" {
		p.Data["name"], p.Data["full_name"] = name, name
	}
}

// readStandard reads the claims of OIDC Core §5.1.
func readStandard(c claims) Profile {
	return newProfile(c.text("sub"), c.text("email"), c.flag("email_verified"), fields{
		name: c.first("name", "full_name"), fullName: c.first("full_name", "name"), picture: c.first("picture", "avatar_url"),
		preferred: c.text("preferred_username"), user: c.text("user_name"), nickname: c.text("nickname"), given: c.text("given_name"),
		family: c.text("family_name"), locale: c.text("locale"), profile: c.text("profile"), website: c.text("website"),
	})
}

func readGoogle(c claims) Profile {
	p := readStandard(c)
	if domain := c.text("hd"); domain != "" {
		p.Data["custom_claims"] = map[string]any{"hd": domain}
	}
	return p
}

// readApple knows that Apple gives no address that it has not verified, its private ones included.
func readApple(c claims) Profile {
	f := fields{}
	if c["is_private_email"] != nil {
		f.custom = map[string]any{"is_private_email": c.flag("is_private_email")}
	}
	verified := c["email_verified"] == nil || c.flag("email_verified")
	return newProfile(c.text("sub"), c.text("email"), verified, f)
}

// readFacebookToken reads the token of a limited login. Facebook gives no address that it has not verified.
func readFacebookToken(c claims) Profile {
	return newProfile(c.text("sub"), c.text("email"), true, fields{name: c.text("name"), fullName: c.text("name"), picture: c.text("picture")})
}

func readSlack(c claims) Profile {
	p := readStandard(c)
	if team := c.text("https://slack.com/team_id"); team != "" {
		p.Data["custom_claims"] = map[string]any{"https://slack.com/team_id": team}
	}
	return p
}

// readMicrosoft reads the token of a tenant. Administrators of a tenant write their users' addresses as they like, so
// one is verified only when Microsoft says that the tenant owns its domain (xms_edov), when it is that of a private
// person, or when the operator has named the one tenant that is believed.
func readMicrosoft(c claims, base string) Profile {
	verified := c.flag("xms_edov")
	if c["xms_edov"] == nil {
		verified = c.text("tid") == consumers || !severalTenants(base)
	}
	return newProfile(c.text("sub"), c.text("email"), verified, fields{
		name: c.text("name"), fullName: c.text("name"), preferred: c.text("preferred_username"),
		custom: map[string]any{"tid": c.text("tid"), "oid": c.text("oid")},
	})
}

// severalTenants tells whether an authority of Microsoft stands for more than one tenant.
func severalTenants(base string) bool {
	tenant := strings.TrimSuffix(base, "/v2.0")
	switch tenant[strings.LastIndexByte(tenant, '/')+1:] {
	case "common", "organizations", "consumers":
		return true
	}
	return false
}
