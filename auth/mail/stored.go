package mail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
)

// Refusals of changes to templates.
var (
	ErrNoSuchTemplate = errors.New("there is no such mail in this language")
	// ErrTemplateChanged is for who has edited another version than the one that is there.
	ErrTemplateChanged = errors.New("the template has been changed meanwhile")
)

const (
	templatesMark = `
select coalesce(string_agg(language || '/' || name || ':' || version, ' ' order by language, name), '')
from basalt.mail_templates`

	storedTemplates = `
select language, name, subject, html, text, version, changed_at
from basalt.mail_templates
order by language, name`

	lockTemplates = `
lock table basalt.mail_templates in share row exclusive mode`

	storeTemplate = `
insert into basalt.mail_templates (language, name, subject, html, text)
values ($1, $2, $3, $4, $5)`

	forgetTemplate = `
delete from basalt.mail_templates
where language = $1
and name = $2`
)

// Stored gives the templates in force: what owners have stored in the database before what is in a folder or built in.
// Several processes see the same, as each looks whether something has changed when it writes a mail.
type Stored struct {
	pool     *pgxpool.Pool
	own      fs.FS
	language string
	base     *Templates
	log      zerolog.Logger

	mu      sync.Mutex
	mark    string // of what was loaded last
	current *Templates
	wrong   *TemplateError
}

// NewStored makes a shelf over a folder of own templates, nil for none. Its errors are those of LoadTemplates.
func NewStored(pool *pgxpool.Pool, own fs.FS, defaultLanguage string, log zerolog.Logger) (*Stored, error) {
	base, err := LoadTemplates(own, defaultLanguage)
	if err != nil {
		return nil, err
	}
	return &Stored{pool: pool, own: own, language: defaultLanguage, base: base, current: base, log: log}, nil
}

// querier is a transaction or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// StoredSheet is a sheet as it is kept.
type StoredSheet struct {
	Sheet
	Version   int64
	ChangedAt time.Time
}

// Current gives the templates in force. When those that are stored do not work with those of the folder, because it was
// changed since, none of them counts, and the log says so.
func (s *Stored) Current(ctx context.Context) (*Templates, error) {
	var mark string
	if err := s.pool.QueryRow(ctx, templatesMark).Scan(&mark); err != nil {
		return nil, fmt.Errorf("look for stored mail templates: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if mark == s.mark {
		return s.current, nil
	}
	sheets, err := s.sheets(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	s.current, s.wrong = s.base, nil
	with, err := s.with(sheets)
	if !errors.As(err, &s.wrong) {
		if err != nil {
			return nil, err
		}
		s.current = with
	} else {
		s.log.Error().Err(err).Msg("the mail templates stored in the dashboard do not work: none of them counts until they are changed there")
	}
	s.mark = markOf(sheets)
	return s.current, nil
}

// markOf is what templatesMark gives of these.
func markOf(sheets []StoredSheet) string {
	marks := make([]string, len(sheets))
	for i, sheet := range sheets {
		marks[i] = fmt.Sprintf("%s/%s:%d", sheet.Language, sheet.Name, sheet.Version)
	}
	return strings.Join(marks, " ")
}

// Look gives the templates in force with what is stored; wrong is why that does not count.
func (s *Stored) Look(ctx context.Context) (current *Templates, stored []StoredSheet, wrong *TemplateError, err error) {
	if stored, err = s.sheets(ctx, s.pool); err != nil {
		return nil, nil, nil, err
	}
	current, err = s.with(stored)
	if errors.As(err, &wrong) {
		return s.base, stored, wrong, nil
	}
	return current, stored, nil, err
}

// Under are the templates as they are without any that is stored.
func (s *Stored) Under() *Templates { return s.base }

func (s *Stored) sheets(ctx context.Context, db querier) ([]StoredSheet, error) {
	rows, err := db.Query(ctx, storedTemplates)
	if err != nil {
		return nil, fmt.Errorf("read the stored mail templates: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (StoredSheet, error) {
		var t StoredSheet
		err := row.Scan(&t.Language, &t.Name, &t.Subject, &t.HTML, &t.Text, &t.Version, &t.ChangedAt)
		return t, err
	})
}

// with loads the templates with stored ones.
func (s *Stored) with(stored []StoredSheet) (*Templates, error) {
	sheets := make([]Sheet, 0, len(stored))
	for i := range stored {
		if stored[i].known() { // else of another version
			sheets = append(sheets, stored[i].Sheet)
		}
	}
	return LoadTemplates(s.own, s.language, sheets...)
}

// replaced are the stored sheets with one in the place of its like.
func replaced(stored []StoredSheet, with Sheet) []StoredSheet {
	return append(without(stored, with), StoredSheet{Sheet: with})
}

func without(stored []StoredSheet, sheet Sheet) []StoredSheet {
	return slices.DeleteFunc(slices.Clone(stored), sheet.like)
}

// like tells whether a stored sheet is for the same mail in the same language.
func (s Sheet) like(other StoredSheet) bool {
	return s.Language == other.Language && s.Name == other.Name
}

// Try loads the templates in force with a sheet in the place of its like. The error is a *TemplateError when it does not
// work, or when another does not work with it, and ErrNoSuchTemplate when there is no such mail.
func (s *Stored) Try(ctx context.Context, sheet Sheet) (*Templates, error) {
	stored, err := s.sheets(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	return s.try(stored, &sheet)
}

func (s *Stored) try(stored []StoredSheet, sheet *Sheet) (*Templates, error) {
	if !sheet.known() || !slices.Contains(s.base.Languages(), sheet.Language) {
		return nil, ErrNoSuchTemplate
	}
	if err := sheet.tidy(); err != nil {
		return nil, err
	}
	return s.with(replaced(stored, *sheet))
}

// Store keeps a sheet, in a transaction, in the place of the version that its author has seen: 0 is none. It gives what
// was there before. Errors are those of Try, and ErrTemplateChanged.
func (s *Stored) Store(ctx context.Context, tx pgx.Tx, sheet Sheet, seen int64) (before *StoredSheet, err error) {
	stored, before, err := s.lock(ctx, tx, sheet, seen)
	if err != nil {
		return nil, err
	}
	if _, err := s.try(stored, &sheet); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, forgetTemplate, sheet.Language, sheet.Name); err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, storeTemplate, sheet.Language, sheet.Name, sheet.Subject, sheet.HTML, sheet.Text)
	return before, err
}

// Forget removes a sheet that is stored, in a transaction. It is refused with a *TemplateError when another stored one
// would not work any more, and with ErrNoSuchTemplate when it is not there.
func (s *Stored) Forget(ctx context.Context, tx pgx.Tx, languageOf, name string, seen int64) (before *StoredSheet, err error) {
	sheet := Sheet{Language: languageOf, Name: name}
	stored, before, err := s.lock(ctx, tx, sheet, seen)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, ErrNoSuchTemplate
	}
	if _, err := s.with(stored); err == nil { // else it may be the one that is wrong
		if _, err := s.with(without(stored, sheet)); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec(ctx, forgetTemplate, languageOf, name)
	return before, err
}

// lock keeps others from changing templates, and finds the like of a sheet.
func (s *Stored) lock(ctx context.Context, tx pgx.Tx, sheet Sheet, seen int64) (stored []StoredSheet, before *StoredSheet, err error) {
	if _, err := tx.Exec(ctx, lockTemplates); err != nil { // those that are changed together must go together
		return nil, nil, err
	}
	if stored, err = s.sheets(ctx, tx); err != nil {
		return nil, nil, err
	}
	version := int64(0)
	if i := slices.IndexFunc(stored, sheet.like); i >= 0 {
		before, version = &stored[i], stored[i].Version
	}
	if version != seen {
		return nil, nil, ErrTemplateChanged
	}
	return stored, before, nil
}
