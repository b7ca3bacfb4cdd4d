package accounts

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"basalt/auth"
)

// shape is a JSON object that is being written. Users and sessions are written by hand: they are what clients ask for
// most, and reflection over thirty fields takes longer than all else that is done for them here.
type shape []byte

func (s *shape) open()  { *s = append(*s, '{') }
func (s *shape) close() { *s = append(*s, '}') }

// name begins a member.
func (s *shape) name(name string) {
	if last := len(*s) - 1; last >= 0 && (*s)[last] != '{' {
		*s = append(*s, ',')
	}
	*s = append(*s, '"')
	*s = append(*s, name...)
	*s = append(*s, '"', ':')
}

func (s *shape) text(name, value string) {
	s.name(name)
	*s = appendText(*s, value)
}

// textIf leaves out what is empty.
func (s *shape) textIf(name, value string) {
	if value != "" {
		s.text(name, value)
	}
}

func (s *shape) id(name string, value uuid.UUID) { s.text(name, value.String()) }

func (s *shape) number(name string, value int64) {
	s.name(name)
	*s = strconv.AppendInt(*s, value, 10)
}

func (s *shape) flag(name string, value bool) {
	s.name(name)
	*s = strconv.AppendBool(*s, value)
}

// object writes JSON as it comes out of the database.
func (s *shape) object(name string, value json.RawMessage) {
	s.name(name)
	*s = append(*s, value...)
}

// instant writes a time as the API does, UTC with microseconds, or the empty text.
func (s *shape) instant(name string, t *time.Time) {
	s.name(name)
	*s = append(*s, '"')
	if t != nil {
		*s = t.UTC().AppendFormat(*s, "2006-01-02T15:04:05.000000Z")
	}
	*s = append(*s, '"')
}

// instantIf leaves out a time that is none.
func (s *shape) instantIf(name string, t *time.Time) {
	if t != nil {
		s.instant(name, t)
	}
}

// list writes n objects.
func (s *shape) list(name string, n int, write func(i int)) {
	s.name(name)
	*s = append(*s, '[')
	for i := range n {
		if i > 0 {
			*s = append(*s, ',')
		}
		s.open()
		write(i)
		s.close()
	}
	*s = append(*s, ']')
}

// texts writes a list of texts.
func (s *shape) texts(name string, values []string) {
	s.name(name)
	*s = append(*s, '[')
	for i, value := range values {
		if i > 0 {
			*s = append(*s, ',')
		}
		*s = appendText(*s, value)
	}
	*s = append(*s, ']')
}

// appendText writes a JSON string. Most have nothing to escape.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // a string is never refused
			return append(to, quoted...)
		}
	}
	to = append(to, '"')
	to = append(to, text...)
	return append(to, '"')
}

// sizeOfUser is room for a usual user.
const sizeOfUser = 1536

func sessionBody(session *auth.Session) []byte {
	s := make(shape, 0, sizeOfUser+len(session.AccessToken))
	s.open()
	s.text("access_token", session.AccessToken.Reveal())
	s.text("token_type", "bearer")
	s.number("expires_in", int64(session.ExpiresIn/time.Second))
	s.number("expires_at", session.ExpiresAt.Unix())
	s.text("refresh_token", session.RefreshToken.Reveal())
	s.textIf("provider_token", session.ProviderToken.Reveal())
	s.textIf("provider_refresh_token", session.ProviderRefreshToken.Reveal())
	s.name("user")
	s.open()
	s.user(session.User)
	s.close()
	if w := session.Weak; w != nil {
		s.name("weak_password")
		s.open()
		s.text("message", w.Message)
		s.name("reasons")
		s = append(s, '[')
		for i, reason := range w.Reasons {
			if i > 0 {
				s = append(s, ',')
			}
			s = appendText(s, string(reason))
		}
		s = append(s, ']')
		s.close()
	}
	s.close()
	return s
}

// DescribeUser writes an account as clients see it.
func DescribeUser(u *auth.User) []byte { return userBody(u) }

func userBody(u *auth.User) []byte {
	s := make(shape, 0, sizeOfUser)
	s.open()
	s.user(u)
	s.close()
	return s
}

func userListBody(users []*auth.User) []byte {
	s := make(shape, 0, sizeOfUser*(len(users)+1))
	s.open()
	s.list("users", len(users), func(i int) { s.user(users[i]) })
	s.text("aud", "authenticated")
	s.close()
	return s
}

func (s *shape) user(u *auth.User) {
	s.id("id", u.ID)
	s.text("aud", u.Audience)
	s.text("role", u.Role)
	s.text("email", u.Email)
	s.instantIf("email_confirmed_at", u.EmailConfirmedAt)
	s.instantIf("invited_at", u.InvitedAt)
	s.text("phone", u.Phone)
	s.instantIf("phone_confirmed_at", u.PhoneConfirmedAt)
	s.instantIf("confirmation_sent_at", u.ConfirmationSentAt)
	s.instantIf("confirmed_at", u.ConfirmedAt)
	s.instantIf("recovery_sent_at", u.RecoverySentAt)
	s.textIf("new_email", u.NewEmail)
	s.instantIf("email_change_sent_at", u.EmailChangeSentAt)
	s.textIf("new_phone", u.NewPhone)
	s.instantIf("phone_change_sent_at", u.PhoneChangeSentAt)
	s.instantIf("reauthentication_sent_at", u.ReauthenticationSentAt)
	s.instantIf("last_sign_in_at", u.LastSignInAt)
	s.object("app_metadata", u.AppMetadata)
	s.object("user_metadata", u.UserMetadata)
	if len(u.Factors) > 0 {
		s.list("factors", len(u.Factors), func(i int) { s.factor(&u.Factors[i]) })
	}
	s.list("identities", len(u.Identities), func(i int) { s.identity(&u.Identities[i]) })
	s.instant("created_at", u.CreatedAt)
	s.instant("updated_at", u.UpdatedAt)
	s.instantIf("banned_until", u.BannedUntil)
	s.instantIf("deleted_at", u.DeletedAt)
	s.flag("is_anonymous", u.Anonymous)
}

func (s *shape) identity(i *auth.Identity) {
	s.id("identity_id", i.ID)
	s.text("id", i.ProviderID)
	s.id("user_id", i.UserID)
	s.object("identity_data", i.Data)
	s.text("provider", i.Provider)
	s.instantIf("last_sign_in_at", i.LastSignInAt)
	s.instantIf("created_at", i.CreatedAt)
	s.instantIf("updated_at", i.UpdatedAt)
	s.textIf("email", i.Email)
}

func (s *shape) factor(f *auth.Factor) {
	s.id("id", f.ID)
	s.instant("created_at", f.CreatedAt)
	s.instant("updated_at", f.UpdatedAt)
	s.text("status", f.Status)
	s.textIf("friendly_name", f.FriendlyName)
	s.text("factor_type", f.Type)
	s.textIf("phone", f.Phone)
	s.instantIf("last_challenged_at", f.LastChallengedAt)
}
