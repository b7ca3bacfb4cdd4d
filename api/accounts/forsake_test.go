package accounts_test

import (
	"fmt"
	"testing"

	"basalt/auth"
)

// Whoever takes somebody's address before them, and waits for them to confirm it, must find nothing of their own left.
func TestWhatNobodyConfirmedDoesNotWaitForTheOwner(t *testing.T) {
	const early, late = "Attacker-pass-1", "Owners-pass-1"
	second := openIDServer(t)
	byPassword := func(v *visitors) {
		v.want(v.say("/signup", `{"email":%q,"password":%q}`, victim, early), 200, "")
	}
	byProvider := func(v *visitors) {
		second.Is("attacker", victim, false)
		v.refusal(v.at(second).browser().signInAt("second", "attacker"), auth.CodeProviderEmailNeedsVerification)
	}
	for name, arrive := range map[string]func(*visitors, *post) answer{
		"by a sign-up": func(v *visitors, p *post) answer {
			v.want(v.say("/signup", `{"email":%q,"password":%q}`, victim, late), 200, "")
			return v.verifyHash("signup", p.last(t, auth.MailConfirmation, victim).TokenHash)
		},
		"by a magic link": func(v *visitors, p *post) answer {
			v.want(v.say("/otp", `{"email":%q}`, victim), 200, "")
			return v.verifyCode("email", victim, p.last(t, auth.MailMagicLink, victim).Token)
		},
		"by a recovery": func(v *visitors, p *post) answer {
			v.want(v.say("/recover", `{"email":%q}`, victim), 200, "")
			return v.verifyCode("recovery", victim, p.last(t, auth.MailRecovery, victim).Token)
		},
		"by an invitation": func(v *visitors, p *post) answer {
			v.want(v.call("POST", "/invite", v.keys.ServiceKey.Reveal(), fmt.Sprintf(`{"email":%q}`, victim)), 200, "")
			return v.verifyHash("invite", p.last(t, auth.MailInvite, victim).TokenHash)
		},
		"by a generated link": func(v *visitors, _ *post) answer {
			a := v.want(v.admin("POST", "/generate_link", fmt.Sprintf(`{"type":"signup","email":%q,"password":%q}`, victim, late)), 200, "")
			return v.verifyHash("signup", auth.Secret(a.str("hashed_token")))
		},
	} {
		for waiting, wait := range map[string]func(*visitors){"a password": byPassword, "an identity": byProvider} {
			t.Run(name+", where "+waiting+" waits", func(t *testing.T) {
				p := &post{}
				v := startWithOpenID(t, func(o *auth.Options) {
					o.Outbound = p
					secondProvider(second)(o)
				})
				wait(v)
				a := v.want(arrive(v, p), 200, "")
				if a.str("user.email") != victim || a.get("user.identities.0.provider") != "email" || a.get("user.identities.1") != nil ||
					a.get("user.app_metadata.providers.0") != "email" || a.get("user.app_metadata.providers.1") != nil {
					t.Errorf("the account is %s", a.text)
				}
				v.want(v.signIn(victim, early), 400, "invalid_credentials")
				if waiting == "an identity" {
					v.refusal(v.at(second).browser().signInAt("second", "attacker"), auth.CodeProviderEmailNeedsVerification)
				}
			})
		}
	}
}

func TestASignUpThatIsRepeatedKeepsItsPassword(t *testing.T) {
	s, p := mailing(t, linkOptions())
	for range 2 {
		s.want(s.say("/signup", `{"email":"a@example.com","password":%q}`, goodPassword), 200, "")
	}
	s.want(s.verifyHash("signup", p.last(t, auth.MailConfirmation, "a@example.com").TokenHash), 200, "")
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
}

func TestAPasswordThatWasDroppedIsNotTakenOverByTheNextSignUp(t *testing.T) {
	s, p := mailing(t, linkOptions())
	for _, secret := range []string{"Owners-pass-1", "Attacker-pass-1", "Attacker-pass-1"} {
		s.want(s.say("/signup", `{"email":"a@example.com","password":%q}`, secret), 200, "")
	}
	s.want(s.verifyHash("signup", p.last(t, auth.MailConfirmation, "a@example.com").TokenHash), 200, "")
	s.want(s.signIn("a@example.com", "Attacker-pass-1"), 400, "invalid_credentials")
}

// Mails have their interval. Whoever keeps asking just before the owner does must not have theirs confirmed by the mail
// that the owner gets then.
func TestASignUpThatComesTooSoonForAMailLeavesNothingOfAStranger(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, p := mailing(t, o)
	s.want(s.say("/signup", `{"email":%q,"password":"Attacker-pass-1"}`, victim), 200, "")
	s.want(s.say("/signup", `{"email":%q,"password":"Owners-pass-1"}`, victim), 200, "")
	if p.sent() != 1 {
		t.Fatalf("%d mails are sent", p.sent())
	}
	s.want(s.verifyHash("signup", p.last(t, auth.MailConfirmation, victim).TokenHash), 200, "")
	s.want(s.signIn(victim, "Attacker-pass-1"), 400, "invalid_credentials")
}

// The owner of an address who asks for a link may find another mail beside it, which a stranger had sent. Whichever they
// open, nothing of the stranger's comes with it.
func TestAMailThatAStrangerHadSentConfirmsNothingOfTheirs(t *testing.T) {
	for _, path := range []string{"/otp", "/recover"} {
		t.Run(path, func(t *testing.T) {
			s, p := mailing(t, linkOptions())
			stranger := func() {
				s.want(s.say("/signup", `{"email":%q,"password":"Attacker-pass-1"}`, victim), 200, "")
			}
			stranger()
			s.want(s.say(path, `{"email":%q}`, victim), 200, "")
			stranger()
			s.want(s.verifyHash("signup", p.last(t, auth.MailConfirmation, victim).TokenHash), 200, "")
			s.want(s.signIn(victim, "Attacker-pass-1"), 400, "invalid_credentials")
		})
	}
}
