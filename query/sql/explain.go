package sql

// ExplainOptions are those of PostgreSQL's EXPLAIN. They can be compared.
type ExplainOptions struct {
	JSON                                     bool // the format, else text
	Analyze, Verbose, Settings, Buffers, WAL bool
}

// Explain gives the statement that has PostgreSQL tell how it carries a statement out, for the same parameters. With
// Analyze it is carried out.
func Explain(s *Statement, o ExplainOptions) *Statement {
	text := "explain (format text"
	if o.JSON {
		text = "explain (format json"
	}
	for _, option := range [...]struct {
		set  bool
		name string
	}{
		{o.Analyze, "analyze"}, {o.Verbose, "verbose"}, {o.Settings, "settings"}, {o.Buffers, "buffers"}, {o.WAL, "wal"},
	} {
		if option.set {
			text += ", " + option.name
		}
	}
	return &Statement{SQL: text + ")\n" + s.SQL, Params: s.Params, Formats: s.Formats}
}
