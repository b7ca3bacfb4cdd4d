package admin_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/api/admin"
	"basalt/auth/mail/mailtest"
)

// recordedChanges are all routes that leave an entry in the audit log, in the order in which they are tried. Each change
// is made twice: what it needs is made by then.
var recordedChanges = []struct {
	route, action string
	make          func(*testing.T, *auditWorld) change
	// outside tells that nothing changes in a table.
	outside bool
}{
	{"POST /setup", "administrator.setup", func(t *testing.T, w *auditWorld) change {
		return change{"/setup", setup(link(t, w.Server).Reveal(), "ada@example.com"), stranger}
	}, false},
	{"POST /session", "session.create", func(t *testing.T, w *auditWorld) change {
		return change{"/session", credentials("ada@example.com", ""), stranger}
	}, false},
	{"POST /session/passkey/verify", "session.create", func(t *testing.T, w *auditWorld) change {
		k, _ := w.withPasskey(t)
		return change{"/session/passkey/verify", k.prove(t, &browser{s: w.Server}), stranger}
	}, false},
	{"POST /session/elevate", "session.elevate", func(t *testing.T, w *auditWorld) change {
		_, b := w.hired(t)
		w.Database.Exec(t, `update basalt.administrator_sessions set elevated_until = now() where id = (select id from basalt.administrator_sessions order by created_at desc limit 1)`)
		return change{"/session/elevate", `{"password":"` + secret + `"}`, as(b)}
	}, false},
	{"DELETE /sessions", "session.end_others", func(t *testing.T, w *auditWorld) change {
		a, b := w.hired(t)
		enter(t, w.Server, a.Email)
		return change{"/sessions", nil, as(b)}
	}, false},
	{"DELETE /sessions/:id", "session.end", func(t *testing.T, w *auditWorld) change {
		a, b := w.hired(t)
		enter(t, w.Server, a.Email)
		return change{"/sessions/" + w.text(t, `select id::text from basalt.administrator_sessions where administrator_id = $1 order by created_at desc limit 1`, a.ID), nil, as(b)}
	}, false},
	{"POST /me/totp/verify", "totp.enable", func(t *testing.T, w *auditWorld) change {
		_, b := w.hired(t)
		var drawn struct{ Secret string }
		b.want(t, http.StatusOK, "", "POST", "/me/totp", "").JSON(t, &drawn)
		code, _ := codes(t, drawn.Secret)
		return change{"/me/totp/verify", `{"code":"` + code + `"}`, as(b)}
	}, false},
	{"POST /me/recovery-codes", "recovery_codes.renew", func(t *testing.T, w *auditWorld) change {
		_, b := w.withCodes(t)
		return change{"/me/recovery-codes", nil, as(b)}
	}, false},
	{"DELETE /me/totp", "totp.disable", func(t *testing.T, w *auditWorld) change {
		_, b := w.withCodes(t)
		return change{"/me/totp", nil, as(b)}
	}, false},
	{"POST /me/passkeys/verify", "passkey.add", func(t *testing.T, w *auditWorld) change {
		_, b := w.hired(t)
		return change{"/me/passkeys/verify", newKey(w.Server).register(t, b), as(b)}
	}, false},
	{"DELETE /me/passkeys/:id", "passkey.remove", func(t *testing.T, w *auditWorld) change {
		_, b := w.withPasskey(t)
		var list admin.PasskeyList
		b.want(t, http.StatusOK, "", "GET", "/me/passkeys", "").JSON(t, &list)
		return change{"/me/passkeys/" + list.Passkeys[0].ID.String(), nil, as(b)}
	}, false},
	{"PATCH /me", "administrator.password", func(t *testing.T, w *auditWorld) change {
		_, b := w.hired(t)
		return change{"/me", `{"password":"another horse battery","current":"` + secret + `"}`, as(b)}
	}, false},
	{"POST /administrators", "administrator.invite", func(t *testing.T, w *auditWorld) change {
		return change{"/administrators", `{"email":"bob@example.com","role":"editor"}`, nil}
	}, false},
	{"PATCH /administrators/:id", "administrator.update", func(t *testing.T, w *auditWorld) change {
		a, _ := w.hired(t)
		return change{"/administrators/" + a.ID.String(), `{"role":"editor"}`, nil}
	}, false},
	{"DELETE /administrators/:id", "administrator.delete", func(t *testing.T, w *auditWorld) change {
		a, _ := w.hired(t)
		return change{"/administrators/" + a.ID.String(), nil, nil}
	}, false},
	{"POST /administrators/:id/reset-link", "administrator.reset_link", func(t *testing.T, w *auditWorld) change {
		a, _ := w.hired(t)
		return change{"/administrators/" + a.ID.String() + "/reset-link", nil, nil}
	}, false},
	{"DELETE /administrators/:id/factors", "administrator.remove_factors", func(t *testing.T, w *auditWorld) change {
		a, _ := w.withCodes(t)
		return change{"/administrators/" + a.ID.String() + "/factors", nil, nil}
	}, false},
	{"POST /join", "administrator.join", func(t *testing.T, w *auditWorld) change {
		var invited invitation
		w.call(t, "POST", "/administrators", fmt.Sprintf(`{"email":"%s@example.com","role":"viewer"}`, uuid.NewString())).JSON(t, &invited)
		_, token, _ := strings.Cut(invited.Link, "#token=")
		return change{"/join", join(token, secret), stranger}
	}, false},
	{"POST /keys/service", "key.reveal", func(t *testing.T, w *auditWorld) change {
		return change{"/keys/service", nil, nil}
	}, true},
	{"PATCH /settings", "settings.change", func(t *testing.T, w *auditWorld) change {
		return change{"/settings", `{"changes":{"max-rows":"70"}}`, nil}
	}, false},
	{"POST /settings/mail-test", "settings.mail_test", func(t *testing.T, w *auditWorld) change {
		url, from := mailtest.Start(t, mailtest.Options{Plain: true}).URL(), "no-reply@mail.example"
		return change{"/settings/mail-test", admin.MailServerTest{Changes: map[string]*string{"smtp-url": &url, "mail-from": &from}}, nil}
	}, true},
	{"POST /signing-keys", "signing_key.add", func(t *testing.T, w *auditWorld) change {
		return change{"/signing-keys", `{"algorithm":"ES256"}`, nil}
	}, false},
	{"POST /signing-keys/promote", "signing_key.promote", func(t *testing.T, w *auditWorld) change {
		w.Database.Exec(t, `update basalt.signing_keys set created_at = now() - interval '1 hour'`)
		return change{"/signing-keys/promote", nil, nil}
	}, false},
	{"DELETE /signing-keys/:id", "signing_key.revoke", func(t *testing.T, w *auditWorld) change {
		w.call(t, "POST", "/signing-keys", `{"algorithm":"ES256"}`)
		return change{"/signing-keys/" + w.text(t, `select id from basalt.signing_keys where state = 'standby'`), nil, nil}
	}, false},
	{"PUT /mail-templates/:language/:name", "mail_template.change", func(t *testing.T, w *auditWorld) change {
		return change{"/mail-templates/en/recovery", admin.MailTemplateChange{Subject: "Own words", Text: "{{ .Token }}"}, nil}
	}, false},
	{"POST /mail-templates/:language/:name/test", "mail_template.test", func(t *testing.T, w *auditWorld) change {
		return change{"/mail-templates/en/recovery/test", "{}", nil}
	}, false},
	{"DELETE /mail-templates/:language/:name", "mail_template.reset", func(t *testing.T, w *auditWorld) change {
		return change{"/mail-templates/en/recovery", `{"version":` + w.text(t, `select version::text from basalt.mail_templates`) + `}`, nil}
	}, false},
	{"POST /providers/custom", "provider.create", func(t *testing.T, w *auditWorld) change {
		return change{"/providers/custom", w.customChange(), nil}
	}, false},
	{"PATCH /providers/custom/:identifier", "provider.change", func(t *testing.T, w *auditWorld) change {
		return change{w.custom(t), `{"name":"Another"}`, nil}
	}, false},
	{"DELETE /providers/custom/:identifier", "provider.delete", func(t *testing.T, w *auditWorld) change {
		return change{w.custom(t), nil, nil}
	}, false},
	{"POST /providers/saml", "saml_provider.create", func(t *testing.T, w *auditWorld) change {
		return change{"/providers/saml", admin.SAMLProviderChange{MetadataXML: w.saml}, nil}
	}, false},
	{"PATCH /providers/saml/:id", "saml_provider.change", func(t *testing.T, w *auditWorld) change {
		return change{w.idp(t), `{"disabled":true}`, nil}
	}, false},
	{"DELETE /providers/saml/:id", "saml_provider.delete", func(t *testing.T, w *auditWorld) change {
		return change{w.idp(t), nil, nil}
	}, false},
	{"POST /users", "user.create", func(t *testing.T, w *auditWorld) change {
		return change{"/users", `{"email":"new@example.com","password":"` + secret + `"}`, nil}
	}, false},
	{"POST /users/invite", "user.invite", func(t *testing.T, w *auditWorld) change { // somebody new
		return change{"/users/invite", `{"email":"invited@example.com"}`, nil}
	}, false},
	{"POST /users/invite", "user.invite", func(t *testing.T, w *auditWorld) change { // once more
		return change{"/users/invite", `{"email":"invited@example.com"}`, nil}
	}, false},
	{"PATCH /users/:id", "user.update", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path, `{"password":"another horse battery"}`, nil}
	}, false},
	{"PATCH /users/:id", "user.ban", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path, `{"ban_duration":"1h"}`, nil}
	}, false},
	{"POST /users/:id/send", "user.send", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path + "/send", `{"kind":"recovery"}`, nil}
	}, false},
	{"POST /users/:id/send", "user.send", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path + "/send", `{"kind":"magiclink"}`, nil}
	}, false},
	{"POST /users/:id/send", "user.send", func(t *testing.T, w *auditWorld) change {
		path, email := w.user(t)
		w.Database.Exec(t, `update auth.users set email_confirmed_at = null where email = '`+email+`'`)
		return change{path + "/send", `{"kind":"confirmation"}`, nil}
	}, false},
	{"POST /users/:id/send", "user.send", func(t *testing.T, w *auditWorld) change {
		path, email := w.user(t)
		w.Database.Exec(t, `update auth.users set phone = null where phone is not null; update auth.users set phone = '4915112345678' where email = '`+email+`'`)
		return change{path + "/send", `{"kind":"sms"}`, nil}
	}, false},
	{"POST /users/:id/link", "user.link", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path + "/link", `{"type":"magiclink"}`, nil}
	}, false},
	{"DELETE /users/:id/sessions", "user.sessions.end", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path + "/sessions", nil, nil}
	}, false},
	{"DELETE /users/:id/sessions/:session", "user.session.end", func(t *testing.T, w *auditWorld) change {
		path, email := w.user(t)
		return change{path + "/sessions/" + w.text(t, `select s.id::text from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1`, email), nil, nil}
	}, false},
	{"DELETE /users/:id/factors/:factor", "user.factor.remove", func(t *testing.T, w *auditWorld) change {
		path, email := w.user(t)
		return change{path + "/factors/" + w.text(t, `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at)
			select gen_random_uuid(), id, 'phone', 'totp', 'verified', now(), now() from auth.users where email = $1 returning id::text`, email), nil, nil}
	}, false},
	{"DELETE /users/:id", "user.delete", func(t *testing.T, w *auditWorld) change {
		path, _ := w.user(t)
		return change{path, nil, nil}
	}, false},
	{"POST /rows/:schema/:table", "rows.change", func(t *testing.T, w *auditWorld) change {
		return change{"/rows/public/places", `{"changes":[{"op":"insert","set":{"id":"1","name":"Ulm"}}]}`, nil}
	}, false},
	{"POST /import/:schema/:table", "rows.import", func(t *testing.T, w *auditWorld) change {
		return change{"/import/public/places?format=csv", "id,name\n2,Bonn\n", append([]string{"Content-Type: text/csv"}, w.headers...)}
	}, false},
	{"POST /ddl", "structure.change", func(t *testing.T, w *auditWorld) change {
		return change{"/ddl", `{"statements":["create table made ()"],"summary":"make a table"}`, nil}
	}, false},
	{"POST /ddl", "structure.change", func(t *testing.T, w *auditWorld) change {
		return change{"/ddl", `{"statements":["create index concurrently on auth.users (phone_change)"],"summary":"make an index","concurrently":true}`, nil}
	}, true},
	{"POST /sql", "sql.run", func(t *testing.T, w *auditWorld) change {
		return change{"/sql", admin.SQLBody{ID: uuid.New(), SQL: "create table " + pgx.Identifier{"sql_" + uuid.NewString()}.Sanitize() + " ()"}, nil}
	}, false},
	{"POST /rest/*", "rest.post", func(t *testing.T, w *auditWorld) change {
		return change{"/rest/numbers", map[string]int{"id": rand.IntN(1e9), "n": 1}, nil}
	}, false},
	{"PATCH /rest/*", "rest.patch", func(t *testing.T, w *auditWorld) change {
		return change{"/rest/numbers?n=gt.0", map[string]int{"n": rand.IntN(1e9) + 1}, nil}
	}, false},
	{"PUT /rest/*", "rest.put", func(t *testing.T, w *auditWorld) change {
		return change{"/rest/numbers?id=eq.1", map[string]int{"id": 1, "n": rand.IntN(1e9) + 1}, nil}
	}, false},
	{"DELETE /rest/*", "rest.delete", func(t *testing.T, w *auditWorld) change {
		w.Database.Exec(t, `insert into numbers values (random() * 1e9, 5)`)
		return change{"/rest/numbers?n=gt.0", nil, nil}
	}, false},
	{"POST /performance/activity/:pid/cancel", "session.cancel", func(t *testing.T, w *auditWorld) change {
		pid, body := w.session(t)
		return change{"/performance/activity/" + pid + "/cancel", body, nil}
	}, true},
	{"POST /performance/activity/:pid/terminate", "session.terminate", func(t *testing.T, w *auditWorld) change {
		pid, body := w.session(t)
		return change{"/performance/activity/" + pid + "/terminate", body, nil}
	}, true},
	{"DELETE /outbox/:id", "outbox.remove", func(t *testing.T, w *auditWorld) change {
		return change{w.message(t), nil, nil}
	}, false},
	{"DELETE /outbox", "outbox.clear", func(t *testing.T, w *auditWorld) change {
		w.message(t)
		return change{"/outbox", nil, nil}
	}, false},
	{"POST /outbox/:id/retry", "outbox.retry", func(t *testing.T, w *auditWorld) change {
		return change{w.message(t) + "/retry", nil, nil}
	}, false},
}
