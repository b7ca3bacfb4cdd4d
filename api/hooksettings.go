package api

import (
	"net/http"
	"net/netip"

	"basalt/api/accounts"
	"basalt/auth"
	"basalt/auth/hook"
	"basalt/auth/outgoing"
)

// HookSettings are the settings of code of the project's owner that accounts call, and of all calls to other servers.
type HookSettings struct {
	OutgoingAllow []string `flag:"outgoing-allow" start:"true" title:"Allowed private networks" help:"own networks that the server may call although they are not public, by plain http too, comma-separated CIDRs such as 127.0.0.0/8,10.0.0.0/8"`

	HookCustomAccessToken                  string      `flag:"hook-custom-access-token" title:"Custom access token" help:"what may change the claims of access tokens: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookCustomAccessTokenSecrets           auth.Secret `flag:"hook-custom-access-token-secrets" title:"Custom access token: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
	HookSendEmail                          string      `flag:"hook-send-email" title:"Send e-mail" help:"what sends mails: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookSendEmailSecrets                   auth.Secret `flag:"hook-send-email-secrets" title:"Send e-mail: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
	HookSendSMS                            string      `flag:"hook-send-sms" title:"Send text message" help:"what sends text messages: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookSendSMSSecrets                     auth.Secret `flag:"hook-send-sms-secrets" title:"Send text message: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
	HookMFAVerificationAttempt             string      `flag:"hook-mfa-verification-attempt" title:"Second factor attempt" help:"what is told of proofs of second factors and may refuse them: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookMFAVerificationAttemptSecrets      auth.Secret `flag:"hook-mfa-verification-attempt-secrets" title:"Second factor attempt: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
	HookPasswordVerificationAttempt        string      `flag:"hook-password-verification-attempt" title:"Password attempt" help:"what is told of passwords at sign-in and may refuse them: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookPasswordVerificationAttemptSecrets auth.Secret `flag:"hook-password-verification-attempt-secrets" title:"Password attempt: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
	HookBeforeUserCreated                  string      `flag:"hook-before-user-created" title:"Before a user is created" help:"what may refuse new accounts: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookBeforeUserCreatedSecrets           auth.Secret `flag:"hook-before-user-created-secrets" title:"Before a user is created: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
	HookAfterUserCreated                   string      `flag:"hook-after-user-created" title:"After a user is created" help:"what is told of new accounts: pg-functions://postgres/SCHEMA/FUNCTION or an https URL"`
	HookAfterUserCreatedSecrets            auth.Secret `flag:"hook-after-user-created-secrets" title:"After a user is created: signing secrets" help:"what calls of that URL are signed with, as v1,whsec_BASE64; several divided by |"`
}

// outgoingGuard is which addresses the server may call.
func (s *Settings) outgoingGuard() (outgoing.Guard, error) {
	var guard outgoing.Guard
	for _, text := range s.OutgoingAllow {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return guard, &SettingError{"outgoing-allow", text + " is not a network such as 10.0.0.0/8"}
		}
		guard.Allow = append(guard.Allow, network)
	}
	return guard, nil
}

// outgoingClient makes a client for one use of other servers.
func (s *Settings) outgoingClient(o outgoing.Options) (*http.Client, error) {
	var err error
	o.Guard, err = s.outgoingGuard()
	return outgoing.New(o), err
}

// hookSetting is where a hook is, by the flag that says so.
type hookSetting struct {
	point   hook.Point
	flag    string
	uri     string
	secrets auth.Secret
}

func (s *Settings) hookSettings() []hookSetting {
	return []hookSetting{
		{hook.CustomAccessToken, "hook-custom-access-token", s.HookCustomAccessToken, s.HookCustomAccessTokenSecrets},
		{hook.SendEmail, "hook-send-email", s.HookSendEmail, s.HookSendEmailSecrets},
		{hook.SendSMS, "hook-send-sms", s.HookSendSMS, s.HookSendSMSSecrets},
		{hook.MFAVerificationAttempt, "hook-mfa-verification-attempt", s.HookMFAVerificationAttempt, s.HookMFAVerificationAttemptSecrets},
		{hook.PasswordVerificationAttempt, "hook-password-verification-attempt", s.HookPasswordVerificationAttempt, s.HookPasswordVerificationAttemptSecrets},
		{hook.BeforeUserCreated, "hook-before-user-created", s.HookBeforeUserCreated, s.HookBeforeUserCreatedSecrets},
		{hook.AfterUserCreated, "hook-after-user-created", s.HookAfterUserCreated, s.HookAfterUserCreatedSecrets},
	}
}

// hooks are what the settings put into the flows. The error names the first setting that is wrong.
func (s *Settings) hooks() (auth.Hooks, error) {
	hooks := auth.Hooks{Describe: accounts.DescribeUser}
	at := map[hook.Point]**hook.Hook{
		hook.CustomAccessToken: &hooks.CustomAccessToken, hook.SendEmail: &hooks.SendEmail, hook.SendSMS: &hooks.SendSMS,
		hook.MFAVerificationAttempt: &hooks.MFAVerificationAttempt, hook.PasswordVerificationAttempt: &hooks.PasswordVerificationAttempt,
		hook.BeforeUserCreated: &hooks.BeforeUserCreated, hook.AfterUserCreated: &hooks.AfterUserCreated,
	}
	for _, h := range s.hookSettings() {
		client, err := s.outgoingClient(outgoing.Options{Timeout: hook.Timeout, MaxAnswer: hook.MaxAnswer})
		if err != nil {
			return hooks, err
		}
		if *at[h.point], err = hook.New(h.point, h.uri, h.secrets.Reveal(), client); err != nil {
			return hooks, &SettingError{h.flag, err.Error()}
		}
	}
	return hooks, nil
}
