package outbox_test

import (
	"net/http"
	netmail "net/mail"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/auth"
	"basalt/auth/mail"
	"basalt/auth/mail/mailtest"
	"basalt/auth/outbox"
	"basalt/auth/outgoing"
	"basalt/auth/sms"
	"basalt/auth/sms/smstest"
	"basalt/store/storetest"
)

// Servers that refuse us repeat what we have said.
func TestCredentialsOfTheWayAreNeitherLoggedNorKept(t *testing.T) {
	t.Parallel()
	const wrong = "canary-of-a-wrong-password"
	mails := mailtest.Start(t, mailtest.Options{})
	texts := smstest.Start(t, http.StatusCreated, `{"sid":"SM1","status":"queued"}`)
	templates, err := mail.LoadTemplates(nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	server := mails.Mail(t)
	server.Password = wrong
	messenger, err := sms.NewTwilio(sms.Options{
		AccountSID: smstest.Account, AuthToken: wrong, From: "+15550199", URL: texts.URL,
		Client: outgoing.New(outgoing.Options{Guard: outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.New(t)
	pace := quick()
	pace.Attempts = 2
	box := start(t, db, outbox.Options{
		Mail: mail.NewMailer(server, netmail.Address{Address: "no-reply@mail.example"}, "https://site.example", templates), SMS: messenger, Pace: pace,
	})
	send(t, db, box.Outbox, confirmation("ann@example.com"))
	batch := &pgx.Batch{}
	if err := box.QueueSMS(batch, auth.SMS{To: "4915550100", Code: "314159"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Pool.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	var failures []string
	for len(failures) < 2 {
		if time.Now().After(deadline) {
			t.Fatalf("not given up within a minute: %s", box.log)
		}
		entries, err := box.List(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		failures = nil
		for _, e := range entries {
			if e.State == outbox.Failed {
				failures = append(failures, e.Failure)
			}
		}
	}
	said := box.log.String() + strings.Join(failures, "\n")
	if !strings.Contains(said, "535") || !strings.Contains(said, "20003") {
		t.Errorf("it is not said why: %s", said)
	}
	for what, secret := range map[string]string{
		"the password":                        wrong,
		"the password as it was sent by mail": "AGJhc2FsdABjYW5hcnktb2Y", // of NUL basalt NUL canary-of
		"the token as it was sent":            "QUMxOmNhbmFyeS1v",        // of AC1:canary-o
	} {
		if strings.Contains(said, secret) {
			t.Errorf("%s stands there: %s", what, said)
		}
	}
}
