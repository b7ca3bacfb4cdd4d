package admin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// stage is a question about each row, with who answers it.
type stage struct {
	version  string // of the row: old, new
	policies []PolicyAskedBody
}

const probedPolicies = `
select
  p.polname::text,
  p.polcmd::text,
  p.polpermissive,
  coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), ''),
  coalesce(pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid), ''),
  exists (
    select
    from unnest(p.polroles) as role
    where case when role = 0 then true else pg_catalog.pg_has_role($3::text, role, 'usage') end
  )
from pg_catalog.pg_policy p
join pg_catalog.pg_class c on c.oid = p.polrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and c.relname = $2
order by not p.polpermissive, p.polname`

// probedPolicy is a policy of the table.
type probedPolicy struct {
	name, command  string
	permissive     bool
	using, checked string
	applies        bool
}

// stages finds what the verb asks of a row, and of which policies: whoever changes rows has to find them first, and what
// is written must be readable where it is read back, as every update with a condition does.
func (p *probe) stages() ([]stage, error) {
	rows, err := p.tx.Query(p.ctx, probedPolicies, p.asked.Schema, p.asked.Table, p.role)
	if err != nil {
		return nil, err
	}
	policies, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (found probedPolicy, err error) {
		return found, row.Scan(&found.name, &found.command, &found.permissive, &found.using, &found.checked, &found.applies)
	})
	if err != nil {
		return nil, err
	}
	var stages []stage
	add := func(name, version, command string, check bool) {
		body := PolicyStageBody{Stage: name, Policies: []PolicyAskedBody{}}
		for _, policy := range policies {
			if !policy.applies || policy.command != "*" && policy.command != command {
				continue
			}
			asked := PolicyAskedBody{policy.name, policy.permissive, "USING", policy.using}
			if check && policy.checked != "" {
				asked.Clause, asked.Expression = "WITH CHECK", policy.checked
			}
			body.Policies = append(body.Policies, asked)
		}
		p.answer.Stages = append(p.answer.Stages, body)
		stages = append(stages, stage{version, body.Policies})
	}
	switch p.asked.Verb {
	case "select":
		add("read", "old", "r", false)
	case "insert":
		add("write", "new", "a", true)
		if p.asked.ReadBack {
			add("read_back", "new", "r", false)
		}
	case "update":
		add("find", "old", "r", false)
		add("change", "old", "w", false)
		add("write", "new", "w", true)
		add("read_back", "new", "r", false)
	case "delete":
		add("find", "old", "r", false)
		add("change", "old", "d", false)
	}
	return stages, nil
}

// The answers of a policy that are none of a condition.
const answerNone = "none" // it has no such clause

// ask asks the policies of a stage about all rows.
func (p *probe) ask(s *stage) error {
	answers := make([]map[int]string, len(s.policies))
	for i, policy := range s.policies {
		var err error
		if answers[i], err = p.askOne(s.version, policy); err != nil {
			return err
		}
	}
	for i, row := range p.rows {
		verdict := PolicyVerdictBody{Answers: []string{}}
		known := p.answer.Rows[i].Old
		if s.version == "new" {
			known = p.answer.Rows[i].New
		}
		if verdict.Asked = known != nil && p.answer.Bypassed == ""; verdict.Asked {
			some, all := false, true
			for j, policy := range s.policies {
				answer := answers[j][row.place]
				verdict.Answers = append(verdict.Answers, answer)
				switch {
				case answer == answerNone:
				case policy.Permissive:
					some = some || answer == "true"
				default:
					all = all && answer == "true"
				}
			}
			verdict.Passed = some && all
		}
		p.answer.Rows[i].Stages = append(p.answer.Rows[i].Stages, verdict)
	}
	return nil
}

// askOne asks a policy about all rows, as the role. The expression is read by a function of the owner's: names in it stand
// for what the policy means, whatever the role may look up, and it is carried out by the rights of the role.
func (p *probe) askOne(version string, policy PolicyAskedBody) (answers map[int]string, err error) {
	answers = map[int]string{}
	if policy.Expression == "" {
		for _, row := range p.rows {
			answers[row.place] = answerNone
		}
		return answers, nil
	}
	name := pgx.Identifier{p.table.name}.Sanitize()
	failure := p.undone(func() error {
		err := p.exec(`create function pg_temp.basalt_ask() returns table (basalt_place int, basalt_answer boolean) language sql begin atomic
select basalt_probe.basalt_place, (` + policy.Expression + `)::boolean
from pg_temp.basalt_probe
cross join lateral unnest(array[basalt_probe.basalt_` + version + `]) as ` + name + `
where basalt_probe.basalt_` + version + ` is distinct from null;
end`)
		if err != nil {
			return err
		}
		if err := p.exec(`grant execute on function pg_temp.basalt_ask to public`); err != nil {
			return err
		}
		return p.asRole(func() error {
			rows, err := p.tx.Query(p.ctx, `select * from pg_temp.basalt_ask()`)
			if err != nil {
				return err
			}
			var place int
			var answer *bool
			_, err = pgx.ForEachRow(rows, []any{&place, &answer}, func() error {
				answers[place] = "null"
				if answer != nil {
					answers[place] = fmt.Sprint(*answer)
				}
				return nil
			})
			return err
		})
	})
	if failure == nil {
		return answers, nil
	}
	refused := explain(failure)
	if p.ctx.Err() != nil || refused.status >= 500 {
		return nil, failure
	}
	for _, row := range p.rows {
		answers[row.place] = refused.Message
	}
	if text := fmt.Sprintf("The policy %q could not be asked by itself: %s.", policy.Name, refused.Message); !slices.Contains(p.answer.Limits, text) {
		p.answer.Limits = append(p.answer.Limits, text)
	}
	return answers, nil
}

// The outcomes of a row.
const (
	outcomePassed  = "passed"
	outcomeHidden  = "hidden"
	outcomeRefused = "refused"
	outcomeFailed  = "failed"
)

// really runs the statement as the role.
func (p *probe) really() error {
	if p.asked.Verb == "select" {
		return p.reallyRead()
	}
	for i, row := range p.rows {
		count := 0
		err := p.asRole(func() error {
			s, err := p.statement(row)
			if err != nil {
				return err
			}
			if p.asked.Verb != "insert" {
				s.text(" returning 1")
			} else if p.asked.ReadBack {
				s.text(" returning *")
			} else {
				count = 1 // unless it fails
			}
			result, err := s.run(p.ctx, p.tx)
			count = max(count, len(result))
			return err
		})
		body := &p.answer.Rows[i]
		refused := explain(err)
		switch {
		case err == nil && count > 0:
			body.Outcome, body.Error = outcomePassed, nil
		case err == nil:
			body.Outcome = outcomeHidden
		case p.ctx.Err() != nil || refused.status >= 500:
			return err
		case refused.Code == "42501" && strings.Contains(refused.Message, "row-level security"):
			body.Outcome, body.Error = outcomeRefused, &refused.ErrorBody
		case refused.Code == "42501":
			p.answer.Refused = &refused.ErrorBody
			body.Outcome, body.Error = outcomeFailed, &refused.ErrorBody
			if i == 0 {
				p.refuseAll()
				return nil
			}
		default:
			body.Outcome, body.Error = outcomeFailed, &refused.ErrorBody
		}
	}
	if len(p.rows) == 0 {
		return p.reallyNone()
	}
	return nil
}

// refuseAll says of all rows what was said of the statement.
func (p *probe) refuseAll() {
	for i := range p.answer.Rows {
		p.answer.Rows[i].Outcome, p.answer.Rows[i].Error = outcomeFailed, nil
	}
}

// reallyNone finds out whether the role may run the statement at all, where there is no row to run it on.
func (p *probe) reallyNone() error {
	err := p.asRole(func() error {
		s, err := p.statement(probedRow{oid: "0", tid: "(0,0)"})
		if err != nil {
			return err
		}
		_, err = s.run(p.ctx, p.tx)
		return err
	})
	return p.refusal(err)
}

// refusal keeps an error that is the answer of the test.
func (p *probe) refusal(err error) error {
	if err == nil {
		return nil
	}
	refused := explain(err)
	if p.ctx.Err() != nil || refused.status >= 500 {
		return err
	}
	p.answer.Refused = &refused.ErrorBody
	return nil
}

const mayReadSome = `
select
  pg_catalog.has_schema_privilege($3::text, n.oid, 'usage')
  and not pg_catalog.has_table_privilege($3::text, c.oid, 'select')
  and pg_catalog.has_any_column_privilege($3::text, c.oid, 'select')
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and c.relname = $2`

// reallyRead finds the rows that the role reads.
func (p *probe) reallyRead() error {
	read := map[int]bool{}
	err := p.asRole(func() error {
		name := pgx.Identifier{p.table.name}.Sanitize()
		rows, err := p.tx.Query(p.ctx, `
select basalt_probe.basalt_place
from `+p.table.sql()+`
join pg_temp.basalt_probe on `+name+`.tableoid = basalt_probe.basalt_of and `+name+`.ctid = basalt_probe.basalt_at`)
		if err != nil {
			return err
		}
		var place int
		_, err = pgx.ForEachRow(rows, []any{&place}, func() error { read[place] = true; return nil })
		return err
	})
	var some bool
	if err != nil && explain(err).Code == "42501" {
		if err := p.tx.QueryRow(p.ctx, mayReadSome, p.asked.Schema, p.asked.Table, p.role).Scan(&some); err != nil {
			return err
		}
	}
	if some {
		p.limit("The role %s may read some columns only: which rows it reads is told by the policies alone.", p.role)
	} else if err != nil {
		if err := p.refusal(err); err != nil {
			return err
		}
		p.refuseAll()
		return nil
	}
	for i, row := range p.rows {
		passed := read[row.place]
		if some {
			passed = p.answer.Bypassed != "" || p.answer.Rows[i].Stages[0].Passed
		}
		p.answer.Rows[i].Outcome = outcomeHidden
		if passed {
			p.answer.Rows[i].Outcome = outcomePassed
		}
	}
	return nil
}

// compare looks whether the policies, asked one by one, explain what PostgreSQL did.
func (p *probe) compare() {
	if p.answer.Bypassed != "" || p.answer.Refused != nil {
		return
	}
	for i := range p.answer.Rows {
		row := &p.answer.Rows[i]
		explained := true
		for _, verdict := range row.Stages {
			explained = explained && (!verdict.Asked || verdict.Passed)
		}
		if row.Outcome == outcomeFailed || explained == (row.Outcome == outcomePassed) {
			continue
		}
		p.limit("For some rows the policies, asked one by one, do not explain what PostgreSQL did: an expression depends on the statement, on the time, on chance or on what a trigger has changed. The outcome shown is PostgreSQL's.")
		return
	}
}
