package admin

import (
	"embed"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

//go:embed findings_sql/*.sql
var findingsSQL embed.FS

// mostFindings bounds those of each rule.
const mostFindings = 200

// FindingsBody is what is to be mended about who may read and write what.
type FindingsBody struct {
	Findings []FindingBody `json:"findings"`
	// Rules are those that were looked for, so that it is seen what is well.
	Rules []FindingRule `json:"rules"`
	// Truncated are the rules with more findings than are listed.
	Truncated []string `json:"truncated"`
	// Schemas are those that the API exposes.
	Schemas []string `json:"schemas"`
}

// FindingRule is what is looked for.
type FindingRule struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // critical, warning, info; of findings in exposed schemas
	Title    string `json:"title"`
	Why      string `json:"why"`
	// Caution is what to look at before it is mended, "" for nothing.
	Caution string `json:"caution"`
}

// FindingBody is one object that a rule speaks of.
type FindingBody struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Schema   string `json:"schema"`
	Object   string `json:"object"`
	Kind     string `json:"kind"` // table, view, function, policy, extension
	// Table is the table whose policies it concerns, "" for none.
	Table string `json:"table"`
	// Detail names what exactly was found.
	Detail string `json:"detail"`
	// Fix are the statements that mend it; none where a person has to decide.
	Fix []string `json:"fix"`
	// Concurrently says that they cannot be in a transaction.
	Concurrently bool `json:"concurrently"`
}

const (
	critical = "critical"
	warning  = "warning"
	info     = "info"
)

// findingRules are the rules, the gravest first. Each has a query of its name.
func findingRules() []FindingRule {
	return []FindingRule{
		{"rls_off", critical, "Exposed without row level security",
			"The table is in an exposed schema and row level security is off: whoever has a grant reads and writes every row through the API.",
			"Once it is on, nobody reads before a policy lets them: write the policies in the same go."},
		{"policies_off", critical, "Policies that are not in force",
			"The table has policies, but row level security is off: PostgreSQL does not ask them.", ""},
		{"user_metadata", critical, "A policy trusts user_metadata",
			"Users write their own user_metadata: whoever wants to be an administrator says so of themselves.",
			"The statement reads app_metadata instead, which only the server writes: move the values there."},
		{"always_true_write", critical, "Anybody may write any row",
			"The policy is always true for writing: it lets its roles change or add rows of others.",
			"The statement drops the policy. Replace it first by one that says whose rows may be written."},
		{"definer_view", critical, "A view goes around row level security",
			"The view reads by the rights of its owner, so the policies of the tables below do not hold for those who read it.",
			"With security_invoker its readers need rights on the tables below."},
		{"definer_path", warning, "security definer without a search_path",
			"The function runs by the rights of its owner, but looks names up where its caller says: who can create objects can have it call theirs.",
			"Names outside of the function's own schema must then be written with theirs."},
		{"definer_exposed", warning, "Anybody can call a security definer function",
			"The function is in an exposed schema, runs by the rights of its owner, around row level security, and needs no account to be called.",
			"Grant it to those who are to call it."},
		{"sensitive_column", warning, "A secret is readable",
			"The column's name is one of secrets, and the rows are shown to all who may read the table.",
			"Clients that select all columns (*) are refused afterwards."},
		{"truncate_grant", warning, "TRUNCATE is granted",
			"TRUNCATE empties a table without asking any policy. Nobody who uses the API needs the right.", ""},
		{"extension_in_public", warning, "An extension in an exposed schema",
			"The functions of the extension are part of the API, and their names may hide your own.",
			"Statements that name its functions without a schema need extensions in their search_path."},
		{"no_policy", info, "Row level security without a policy",
			"Nobody but the owner and service_role reads or writes the table. That may be wanted.",
			"The statement takes the grants away, which says that it is wanted. Otherwise write a policy."},
		{"anon_write", info, "Grants that no policy uses",
			"Callers without an account have rights to write that only row level security holds back. Once it is off, the table is theirs.", ""},
		{"auth_per_row", info, "The user is asked for once a row",
			"auth.uid() and its likes are called for each row that is looked at. Within a select they are called once a statement, which is much faster on large tables.", ""},
		{"policy_index", info, "No index on a column of a policy",
			"The policy compares the column in every statement. Without an index, each reads the whole table.",
			"The index is built while the table is in use. It takes space and makes writes a little slower."},
	}
}

// findings answers GET /policies/findings.
func (d *Data) findings(c echo.Context) error {
	ctx := c.Request().Context()
	body := FindingsBody{Findings: []FindingBody{}, Rules: findingRules(), Truncated: []string{}, Schemas: d.options.Exposed}
	session := console.Session{ReadOnly: true, StatementTimeout: catalogTimeout, LockTimeout: catalogLocks}
	err := d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(spellNames)
		for i := range body.Rules {
			if err := body.look(batch, &body.Rules[i]); err != nil {
				return err
			}
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// look adds the query of a rule to a batch, and what it finds to the findings.
func (b *FindingsBody) look(batch *pgx.Batch, rule *FindingRule) error {
	text, err := findingsSQL.ReadFile("findings_sql/" + rule.Rule + ".sql")
	if err != nil {
		return err
	}
	batch.Queue(string(text), b.Schemas, mostFindings+1).Query(func(rows pgx.Rows) error {
		if err := b.add(rows, rule); err != nil {
			return fmt.Errorf("look for %s: %w", rule.Rule, err)
		}
		return nil
	})
	return nil
}

// add takes the findings of a rule.
func (b *FindingsBody) add(rows pgx.Rows, rule *FindingRule) error {
	var found FindingBody
	var exposed bool
	count := 0
	_, err := pgx.ForEachRow(rows, []any{&found.Schema, &found.Object, &found.Kind, &found.Table, &exposed, &found.Detail, &found.Fix}, func() error {
		if count++; count > mostFindings {
			b.Truncated = append(b.Truncated, rule.Rule)
			return nil
		}
		added := found
		added.Rule, added.Severity, found.Fix = rule.Rule, rule.Severity, nil
		if !exposed && rule.Severity == critical {
			added.Severity = warning // it takes another way than the API to use it
		}
		added.Concurrently = len(added.Fix) > 0 && strings.HasPrefix(added.Fix[0], "create index concurrently ")
		b.Findings = append(b.Findings, added)
		return nil
	})
	return err
}
