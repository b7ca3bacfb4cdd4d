package mail

import (
	"encoding/json"
	"slices"

	"basalt/auth"
)

// Variable is what a template can write, as {{ .Name }}.
type Variable struct{ Name, Help string }

// VariablesOf are those that mails of a kind have something in; of the layout, for the kind "", they are those of all.
func VariablesOf(kind auth.MailKind) []Variable {
	variables := []Variable{
		{"SiteURL", "the site's address"},
		{"Email", "the account's address"},
		{"SendingTo", "the address that this mail goes to"},
		{"Data", "the user's metadata, written by the user: {{ .Data.name }}"},
		{"Language", "the language of the template, such as en"},
	}
	if kind != "" && !slices.Contains(auth.Notifications(), kind) {
		variables = append(variables, Variable{"Token", "the code to type"})
	}
	switch kind {
	case auth.MailConfirmation, auth.MailInvite, auth.MailMagicLink, auth.MailRecovery, auth.MailEmailChange:
		variables = append(variables,
			Variable{"ConfirmationURL", "the link to follow"},
			Variable{"TokenHash", "what a link of your own site proves its reader with"},
			Variable{"RedirectTo", "where the link leads in the end"})
	}
	switch kind {
	case auth.MailEmailChange:
		variables = append(variables, Variable{"NewEmail", "the address that the account is to have"})
	case auth.MailEmailChanged:
		variables = append(variables, Variable{"OldEmail", "the address that the account had"})
	case auth.MailPhoneChanged:
		variables = append(variables, Variable{"Phone", "the number that the account has"}, Variable{"OldPhone", "the one that it had"})
	case auth.MailIdentityLinked, auth.MailIdentityUnlinked:
		variables = append(variables, Variable{"Provider", "the server that signs the user in, such as github"})
	case auth.MailFactorEnrolled, auth.MailFactorUnenrolled:
		variables = append(variables, Variable{"FactorType", "the kind of the second factor: totp, phone, webauthn or passkey"})
	}
	return variables
}

// Sample is a mail to try the template of a kind with, to somebody who reads a language. The layout, of the kind "", is
// seen around a confirmation. Its link proves nothing.
func Sample(kind auth.MailKind, to, language, apiURL, siteURL string) (auth.Mail, error) {
	if kind == "" {
		kind = auth.MailConfirmation
	}
	data, err := json.Marshal(map[string]string{"locale": language, "name": "Ada Lovelace", "full_name": "Ada Lovelace"})
	m := auth.Mail{Kind: kind, To: to, Email: to, Data: data}
	for _, variable := range VariablesOf(kind) {
		switch variable.Name {
		case "Token":
			m.Token = "123456"
		case "ConfirmationURL":
			m.Link = auth.Secret(apiURL + "/auth/v1/verify?token=sample&type=" + string(kind))
		case "TokenHash":
			m.TokenHash = "sample"
		case "RedirectTo":
			m.RedirectTo = siteURL
		case "NewEmail":
			m.NewEmail = "new@example.com"
		case "OldEmail":
			m.OldEmail = "old@example.com"
		case "Phone":
			m.Phone = "15550100"
		case "OldPhone":
			m.OldPhone = "15550101"
		case "Provider":
			m.Provider = "github"
		case "FactorType":
			m.FactorType = "totp"
		}
	}
	return m, err
}
