// Package sms sends text messages through Twilio's HTTP API, and through others that speak it.
package sms

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/template"

	"basalt/auth"
	"basalt/auth/outbox"
)

const (
	// DefaultURL is where Twilio's own API is.
	DefaultURL = "https://api.twilio.com"
	// DefaultTemplate is what messages say.
	DefaultTemplate = "Your code is {{ .Code }}"

	// mostText is what twenty segments of a message hold, more than any provider sends as one.
	mostText   = 1600
	mostAnswer = 64 << 10
)

// Options are an account at Twilio and how it is used.
type Options struct {
	AccountSID string
	AuthToken  auth.Secret
	// From is a number, an alphanumeric sender, or the SID of a messaging service (MG…).
	From string
	// ContentSID is the approved template (HX…) of WhatsApp messages, with the code as its first variable; empty sends
	// them as text.
	ContentSID string
	// URL is the base of the API; empty is DefaultURL.
	URL string
	// Template is the text, with {{ .Code }}; empty is DefaultTemplate.
	Template string
	// Client makes the calls.
	Client *http.Client
}

// Twilio sends text messages. It implements outbox.Deliverer.
type Twilio struct {
	options  Options
	endpoint string
	template *template.Template
}

var _ outbox.Deliverer = (*Twilio)(nil)

// NewTwilio checks the options: the error says what is wrong with them.
func NewTwilio(o Options) (*Twilio, error) {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	t := &Twilio{options: o}
	var err error
	if t.template, err = ParseTemplate(o.Template); err != nil {
		return nil, err
	}
	t.endpoint = strings.TrimSuffix(o.URL, "/") + "/2010-04-01/Accounts/" + url.PathEscape(o.AccountSID) + "/Messages.json"
	return t, nil
}

// variables are what templates can write.
type variables struct{ Code string }

// ParseTemplate reads the text of messages, which has to say the code.
func ParseTemplate(text string) (*template.Template, error) {
	if text == "" {
		text = DefaultTemplate
	}
	t, err := template.New("text message").Parse(text)
	if err != nil {
		return nil, err
	}
	const example = "123456"
	written, err := write(t, example)
	switch {
	case err != nil:
		return nil, err
	case !strings.Contains(written, example):
		return nil, errors.New("the code is not in it: write {{ .Code }}")
	case len(written) > mostText:
		return nil, fmt.Errorf("it is longer than %d bytes", mostText)
	}
	return t, nil
}

func write(t *template.Template, code string) (string, error) {
	var b bytes.Buffer
	err := t.Execute(&b, variables{Code: code})
	return b.String(), err
}

// Deliver implements outbox.Deliverer. The API knows no repetitions: a message whose answer got lost is sent again.
func (t *Twilio) Deliver(ctx context.Context, m *outbox.Message) error {
	token := t.options.AuthToken.Reveal()
	basic := base64.StdEncoding.EncodeToString([]byte(t.options.AccountSID + ":" + token))
	return outbox.Redact(t.deliver(ctx, m), basic, token)
}

func (t *Twilio) deliver(ctx context.Context, m *outbox.Message) error {
	form, err := t.form(m)
	if err != nil {
		return outbox.Refuse(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return outbox.Refuse(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	request.SetBasicAuth(t.options.AccountSID, t.options.AuthToken.Reveal())
	response, err := t.options.Client.Do(request)
	if err != nil {
		return outbox.Unreachable(err)
	}
	defer response.Body.Close()
	return answered(response)
}

func (t *Twilio) form(m *outbox.Message) (url.Values, error) {
	code := m.SMS.Code.Reveal()
	to, from := "+"+strings.TrimPrefix(m.SMS.To, "+"), t.options.From
	form := url.Values{}
	whatsApp := m.Channel == outbox.WhatsApp
	if whatsApp {
		to = "whatsapp:" + to
	}
	form.Set("To", to)
	switch {
	case strings.HasPrefix(from, "MG"):
		form.Set("MessagingServiceSid", from)
	case whatsApp && !strings.HasPrefix(from, "whatsapp:"):
		form.Set("From", "whatsapp:"+from)
	default:
		form.Set("From", from)
	}
	if whatsApp && t.options.ContentSID != "" {
		variables, err := json.Marshal(map[string]string{"1": code})
		if err != nil {
			return nil, err
		}
		form.Set("ContentSid", t.options.ContentSID)
		form.Set("ContentVariables", string(variables))
		return form, nil
	}
	text, err := write(t.template, code)
	if err != nil {
		return nil, err
	}
	form.Set("Body", text)
	return form, nil
}

// answered reads the API's answer: a message, or what is wrong.
func answered(response *http.Response) error {
	var answer struct {
		Message      string `json:"message"`
		Code         int    `json:"code"`
		ErrorMessage string `json:"error_message"`
		Status       any    `json:"status"` // a word of a message, a number of an error
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	readable := err == nil && json.Unmarshal(body, &answer) == nil
	if response.StatusCode/100 == 2 {
		// The API has the message now: that its answer cannot be read is no reason to send another.
		if word, _ := answer.Status.(string); readable && (word == "failed" || word == "undelivered") {
			return outbox.Refuse(fmt.Errorf("the message was not sent: %s", answer.ErrorMessage))
		}
		return nil
	}
	failure := fmt.Errorf("the API answers %d: %s (%d)", response.StatusCode, answer.Message, answer.Code)
	switch {
	case response.StatusCode == http.StatusBadRequest, response.StatusCode == http.StatusUnprocessableEntity:
		return outbox.Refuse(failure) // the number is none, or may not be written to
	case response.StatusCode == http.StatusConflict:
		return failure
	}
	return outbox.Unreachable(failure)
}
