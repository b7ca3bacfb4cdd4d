package sms_test

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/outbox"
	"basalt/auth/outgoing"
	"basalt/auth/sms"
	"basalt/auth/sms/smstest"
)

// api answers as Twilio does, and keeps what it was asked.
func api(t *testing.T, status int, body string) (sms.Options, *smstest.Twilio) {
	t.Helper()
	server := smstest.Start(t, status, body)
	own := outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	return sms.Options{
		AccountSID: smstest.Account, AuthToken: smstest.Token, From: "+15550199", URL: server.URL, Client: outgoing.New(outgoing.Options{Guard: own}),
	}, server
}

func message(channel outbox.Channel) *outbox.Message {
	return &outbox.Message{ID: uuid.New(), Channel: channel, SMS: auth.SMS{To: "4915550100", Code: "314159", Channel: string(channel)}}
}

func TestMessagesAreAskedForInTwiliosWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		channel outbox.Channel
		change  func(*sms.Options)
		want    url.Values
	}{
		{"from a number", outbox.Text, nil, url.Values{"To": {"+4915550100"}, "From": {"+15550199"}, "Body": {"Your code is 314159"}}},
		{"by a messaging service", outbox.Text, func(o *sms.Options) { o.From = "MG123" },
			url.Values{"To": {"+4915550100"}, "MessagingServiceSid": {"MG123"}, "Body": {"Your code is 314159"}}},
		{"in words of one's own", outbox.Text, func(o *sms.Options) { o.Template = "{{ .Code }}, sagt ÄCME" },
			url.Values{"To": {"+4915550100"}, "From": {"+15550199"}, "Body": {"314159, sagt ÄCME"}}},
		{"by WhatsApp", outbox.WhatsApp, nil,
			url.Values{"To": {"whatsapp:+4915550100"}, "From": {"whatsapp:+15550199"}, "Body": {"Your code is 314159"}}},
		{"by WhatsApp with an approved template", outbox.WhatsApp, func(o *sms.Options) { o.From, o.ContentSID = "MG123", "HX1" },
			url.Values{"To": {"whatsapp:+4915550100"}, "MessagingServiceSid": {"MG123"}, "ContentSid": {"HX1"}, "ContentVariables": {`{"1":"314159"}`}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, server := api(t, http.StatusCreated, `{"sid":"SM1","status":"queued","error_message":null}`)
			if test.change != nil {
				test.change(&o)
			}
			twilio, err := sms.NewTwilio(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := twilio.Deliver(t.Context(), message(test.channel)); err != nil {
				t.Fatal(err)
			}
			if asked := server.Asked(); len(asked) != 1 || asked[0].Encode() != test.want.Encode() {
				t.Errorf("it is asked %v, not %s", asked, test.want.Encode())
			}
		})
	}
}

func TestAnswersThatAreNoMessage(t *testing.T) {
	t.Parallel()
	const sent, refused, unreachable, tryAgain = "sent", "refused", "unreachable", "try again"
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"a message", 201, `{"sid":"SM1","status":"queued"}`, sent},
		{"a message whose answer cannot be read", 201, `<html>`, sent},
		{"a message that has failed at once", 201, `{"sid":"SM1","status":"failed","error_message":"no route"}`, refused},
		{"a number that is none", 400, `{"code":21211,"message":"The 'To' number is not valid","status":400}`, refused},
		{"a message at the same time", 409, `{}`, tryAgain},
		{"a wrong token", 401, `{"code":20003,"message":"Authenticate","status":401}`, unreachable},
		{"too many", 429, `{"code":20429,"message":"Too many requests","status":429}`, unreachable},
		{"a failure of theirs", 503, `oops`, unreachable},
		{"a redirect", 302, ``, unreachable},
		{"an endless answer", 500, strings.Repeat("x", 2<<20), unreachable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, _ := api(t, test.status, test.body)
			twilio, err := sms.NewTwilio(o)
			if err != nil {
				t.Fatal(err)
			}
			err = twilio.Deliver(t.Context(), message(outbox.Text))
			got := sent
			switch {
			case errors.As(err, new(*outbox.RefusedError)):
				got = refused
			case errors.As(err, new(*outbox.UnreachableError)):
				got = unreachable
			case err != nil:
				got = tryAgain
			}
			if got != test.want {
				t.Errorf("%s, not %s: %v", got, test.want, err)
			}
			if err != nil && strings.Contains(err.Error(), smstest.Token) {
				t.Errorf("the token is in the error: %v", err)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	o, _ := api(t, 201, "")
	o.Client = outgoing.New(outgoing.Options{}) // which does not reach the loopback
	twilio, err := sms.NewTwilio(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := twilio.Deliver(t.Context(), message(outbox.Text)); !errors.As(err, new(*outbox.UnreachableError)) {
		t.Errorf("%v", err)
	}
}

func TestATextWithoutTheCodeIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"hello", "{{ .Cod }}", "{{ .Code", strings.Repeat("x", 2000) + "{{ .Code }}"} {
		if _, err := sms.ParseTemplate(text); err == nil {
			t.Errorf("%.20s is taken", text)
		}
	}
	if _, err := sms.ParseTemplate(""); err != nil {
		t.Errorf("the text that there is by default: %v", err)
	}
}
