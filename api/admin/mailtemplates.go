package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail"
)

// mailTemplates puts the routes of the templates of mails on the group.
func (o *Options) mailTemplates(g *echo.Group) {
	o.brief(g, "GET", "/mail-templates", owner, o.listMailTemplates)
	o.brief(g, "PUT", "/mail-templates/:language/:name", owner, elevated(o.storeMailTemplate))
	o.brief(g, "DELETE", "/mail-templates/:language/:name", owner, elevated(o.resetMailTemplate))
	o.brief(g, "POST", "/mail-templates/:language/:name/preview", owner, o.previewMailTemplate)
	o.brief(g, "GET", "/mail-templates/:language/:name/preview/html", owner, o.drawMailTemplate)
	o.brief(g, "POST", "/mail-templates/:language/:name/test", owner, o.testMailTemplate)
}

// MailTemplateBody is a template as it is in force.
type MailTemplateBody struct {
	// Language is a BCP 47 tag; Name is that of its files, such as confirmation, or layout for the frame of the others.
	Language string `json:"language"`
	Name     string `json:"name"`
	Subject  string `json:"subject"`
	HTML     string `json:"html"`
	Text     string `json:"text"`
	Origin   string `json:"origin" tstype:"'built-in' | 'folder' | 'stored'"`
	// Beneath is where the one comes from that a stored one takes the place of.
	Beneath string `json:"beneath" tstype:"'built-in' | 'folder'"`
	// Version is that of a stored one, also while it does not count; 0 is none.
	Version   int64      `json:"version"`
	ChangedAt *time.Time `json:"changed_at"`
}

// MailVariableBody is what a template can write.
type MailVariableBody struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

// MailTemplatesBody is the answer of GET /mail-templates, and of what changes one.
type MailTemplatesBody struct {
	Templates []MailTemplateBody `json:"templates"`
	// Languages are those that there are templates in, the default one first.
	Languages []string `json:"languages"`
	// Variables are those that there is something in, by the names of templates.
	Variables map[string][]MailVariableBody `json:"variables"`
	// Refused is why none of the stored ones counts; empty when they do.
	Refused string `json:"refused"`
	// Hook tells that mails are handed to a hook, which writes them itself.
	Hook bool `json:"hook"`
}

// MailTemplateChange is the body of PUT /mail-templates/{language}/{name}, and of POST …/preview.
type MailTemplateChange struct {
	Subject string `json:"subject"`
	HTML    string `json:"html"`
	Text    string `json:"text"`
	// Version is the one that its author has seen.
	Version int64 `json:"version"`
}

// MailTemplateReset is the body of DELETE /mail-templates/{language}/{name}.
type MailTemplateReset struct {
	Version int64 `json:"version"`
}

// MailPreviewBody is a mail with made-up values. Its HTML is at …/preview/html.
type MailPreviewBody struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    bool   `json:"html"`
}

// MailTestBody is the answer of POST …/test.
type MailTestBody struct {
	To string `json:"to"`
	// Held tells that there is no way to send it: it is in the outbox.
	Held bool `json:"held"`
}

const (
	keepPreview = `
insert into basalt.mail_previews (administrator_id, language, name, html)
values ($1, $2, $3, $4)
on conflict (administrator_id, language, name) do update
set html = excluded.html`

	readPreview = `
select html
from basalt.mail_previews
where administrator_id = $1
and language = $2
and name = $3`
)

// sheetOf is what a request is about.
func sheetOf(c echo.Context, in MailTemplateChange) mail.Sheet {
	return mail.Sheet{Language: named(c, "language"), Name: named(c, "name"), Subject: in.Subject, HTML: in.HTML, Text: in.Text}
}

// listMailTemplates answers GET /mail-templates.
func (o *Options) listMailTemplates(c echo.Context) error {
	current, stored, wrong, err := o.Templates.Look(c.Request().Context())
	if err != nil {
		return err
	}
	body := MailTemplatesBody{Variables: map[string][]MailVariableBody{}, Languages: current.Languages(), Hook: o.Running.MailHook}
	if wrong != nil {
		body.Refused = wrong.Error()
	}
	beneath := map[mail.Sheet]mail.Origin{}
	for _, source := range o.Templates.Under().Sources() {
		beneath[mail.Sheet{Language: source.Language, Name: source.Name}] = source.Origin
	}
	for _, source := range current.Sources() {
		template := MailTemplateBody{
			Language: source.Language, Name: source.Name, Subject: source.Subject, HTML: source.HTML, Text: source.Text, Origin: string(source.Origin),
			Beneath: string(beneath[mail.Sheet{Language: source.Language, Name: source.Name}]),
		}
		for i := range stored {
			if one := &stored[i]; one.Language == source.Language && one.Name == source.Name {
				at := one.ChangedAt.UTC()
				template.Version, template.ChangedAt = one.Version, &at
				template.Subject, template.HTML, template.Text = one.Subject, one.HTML, one.Text // also when it does not count, to be mended
			}
		}
		body.Templates = append(body.Templates, template)
		if body.Variables[source.Name] == nil {
			for _, variable := range mail.VariablesOf(source.Kind) {
				body.Variables[source.Name] = append(body.Variables[source.Name], MailVariableBody(variable))
			}
		}
	}
	return c.JSON(http.StatusOK, body)
}

// keptTemplate is a template in the audit log.
type keptTemplate struct {
	Subject string `json:"subject"`
	HTML    string `json:"html"`
	Text    string `json:"text"`
}

func keptOf(sheet *mail.StoredSheet) any {
	if sheet == nil {
		return nil
	}
	return keptTemplate{sheet.Subject, sheet.HTML, sheet.Text}
}

// storeMailTemplate answers PUT /mail-templates/{language}/{name}. From then on mails are written by it.
func (o *Options) storeMailTemplate(c echo.Context) error {
	var in MailTemplateChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx, sheet := c.Request().Context(), sheetOf(c, in)
	err := pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		before, err := o.Templates.Store(ctx, tx, sheet, in.Version)
		if err != nil {
			return ofTemplates(err, &sheet)
		}
		return o.audit(c, tx, administrator.Change{
			Action: "mail_template.change", Target: sheet.Language + "/" + sheet.Name, Before: keptOf(before), After: keptTemplate{in.Subject, in.HTML, in.Text},
		})
	})
	if err != nil {
		return err
	}
	return o.listMailTemplates(c)
}

// resetMailTemplate answers DELETE /mail-templates/{language}/{name}: the one of the folder counts again, or the built-in one.
func (o *Options) resetMailTemplate(c echo.Context) error {
	var in MailTemplateReset
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx, sheet := c.Request().Context(), sheetOf(c, MailTemplateChange{})
	err := pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		before, err := o.Templates.Forget(ctx, tx, sheet.Language, sheet.Name, in.Version)
		if err != nil {
			return ofTemplates(err, &sheet)
		}
		return o.audit(c, tx, administrator.Change{Action: "mail_template.reset", Target: sheet.Language + "/" + sheet.Name, Before: keptOf(before)})
	})
	if err != nil {
		return err
	}
	return o.listMailTemplates(c)
}

// previewMailTemplate answers POST /mail-templates/{language}/{name}/preview: what is in the editor, with made-up values.
func (o *Options) previewMailTemplate(c echo.Context) error {
	var in MailTemplateChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx, sheet := c.Request().Context(), sheetOf(c, in)
	templates, err := o.Templates.Try(ctx, sheet)
	if err != nil {
		return ofTemplates(err, &sheet)
	}
	sample, err := o.sampleMail(templates, &sheet, "ada@example.com")
	if err != nil {
		return err
	}
	letter, err := templates.Write(sample, o.SiteURL)
	if err != nil {
		return ofTemplates(err, &sheet)
	}
	html := strings.ReplaceAll(letter.HTML, "\x00", "") // which PostgreSQL does not keep
	if _, err := o.DB.Exec(ctx, keepPreview, administratorOf(c).ID, sheet.Language, sheet.Name, html); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, MailPreviewBody{Subject: letter.Subject, Text: letter.Text, HTML: letter.HTML != ""})
}

// sampleMail is a mail to try a template with.
func (o *Options) sampleMail(templates *mail.Templates, sheet *mail.Sheet, to string) (auth.Mail, error) {
	for _, source := range templates.Sources() {
		if source.Name == sheet.Name && source.Language == sheet.Language {
			return mail.Sample(source.Kind, to, sheet.Language, o.URL.String(), o.SiteURL)
		}
	}
	return auth.Mail{}, ofTemplates(mail.ErrNoSuchTemplate, sheet)
}

// drawMailTemplate answers GET /mail-templates/{language}/{name}/preview/html with what was tried last, for a frame.
func (o *Options) drawMailTemplate(c echo.Context) error {
	var html string
	err := o.DB.QueryRow(c.Request().Context(), readPreview, administratorOf(c).ID, named(c, "language"), named(c, "name")).Scan(&html)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && html == "" {
		return refuse(http.StatusNotFound, "not_found", "There is no preview of this mail")
	}
	if err != nil {
		return err
	}
	return drawMail(c, html)
}

// testMailTemplate answers POST /mail-templates/{language}/{name}/test: a mail with made-up values, by the template that is
// in force, goes to who asks.
func (o *Options) testMailTemplate(c echo.Context) error {
	ctx, sheet := c.Request().Context(), sheetOf(c, MailTemplateChange{})
	if o.Running.MailHook {
		return refuse(http.StatusConflict, "mails_by_hook", "Mails are handed to a hook, which writes them itself")
	}
	templates, err := o.Templates.Current(ctx)
	if err != nil {
		return err
	}
	sample, err := o.sampleMail(templates, &sheet, administratorOf(c).Email)
	if err != nil {
		return err
	}
	sent, _ := o.Outbox.Ways()
	err = pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		if err := o.Outbox.QueueMail(batch, sample); err != nil {
			return err
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return o.audit(c, tx, administrator.Change{Action: "mail_template.test", Target: sheet.Language + "/" + sheet.Name})
	})
	if full := auth.OutboxFull(err); full != nil {
		return full
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, MailTestBody{To: sample.To, Held: !sent})
}

// ofTemplates gives what the rules of templates refuse its status. The details of a template that does not work are the
// part of it that is wrong: subject, html or text; nothing when it is another one that does not work with it.
func ofTemplates(err error, sheet *mail.Sheet) error {
	if wrong, ok := errors.AsType[*mail.TemplateError](err); ok {
		place, stored := wrong.Place()
		p := refuse(http.StatusUnprocessableEntity, "template_refused", place.Reason)
		if stored && place.Language == sheet.Language && place.Name == sheet.Name {
			p.Details = place.Part
		} else {
			p.Message = fmt.Sprintf("%s would not work any more: %s", wrong.File, place.Reason)
		}
		if place.Line > 0 {
			part := map[string]string{"html": sheet.HTML, "text": sheet.Text}[p.Details]
			place.Line += strings.Count(part[:len(part)-len(strings.TrimLeftFunc(part, unicode.IsSpace))], "\n") // blank lines at its top are not read
			p.Message = fmt.Sprintf("Line %d: %s", place.Line, p.Message)
		}
		return p
	}
	switch {
	case errors.Is(err, mail.ErrNoSuchTemplate):
		return refuse(http.StatusNotFound, "not_found", "There is no such mail in this language")
	case errors.Is(err, mail.ErrTemplateChanged):
		p := refuse(http.StatusConflict, "conflict", "Somebody else has changed this template meanwhile")
		p.Hint = "Keep what you have written elsewhere, load the screen anew, and bring both together."
		return p
	}
	return err
}
