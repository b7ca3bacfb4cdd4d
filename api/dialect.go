package api

import (
	"fmt"
	"strings"

	"basalt/api/rest"
	"basalt/query/catalog"
)

// checkDialect refuses switches of the REST dialect that cannot work.
func (s *Settings) checkDialect() error {
	if _, err := rest.ParseTransactionEnd(s.RestTxEnd); err != nil {
		return &SettingError{"rest-tx-end", err.Error()}
	}
	if name := functionName(s.RestPreRequest); s.RestPreRequest != "" && (name.Name == "" || strings.ContainsAny(s.RestPreRequest, "()\x00")) {
		return &SettingError{"rest-pre-request", fmt.Sprintf("%q is not the name of a function, such as api.check_request", s.RestPreRequest)}
	}
	if name := functionName(s.RestRootFunction); s.RestRootFunction != "" && (name.Name == "" || strings.ContainsAny(s.RestRootFunction, "()/\x00")) {
		return &SettingError{"rest-root-function", fmt.Sprintf("%q is not the name of a function, such as api.welcome", s.RestRootFunction)}
	}
	if s.RestAnonRole == "none" || strings.Contains(s.RestAnonRole, "\x00") {
		return &SettingError{"rest-anon-role", fmt.Sprintf("%q cannot be a role", s.RestAnonRole)}
	}
	if _, err := ParseAppSettings(s.AppSettings); err != nil {
		return &SettingError{"app-settings", err.Error()}
	}
	if s.TraceHeader != "" && !traceable(s.TraceHeader) {
		return &SettingError{"trace-header", fmt.Sprintf("%q is no header that may be echoed", s.TraceHeader)}
	}
	return nil
}

// functionName splits the name of a function at its first dot. Without one it has no schema.
func functionName(text string) catalog.Name {
	if schema, name, found := strings.Cut(text, "."); found {
		return catalog.Name{Schema: schema, Name: name}
	}
	return catalog.Name{Name: text}
}

// dialect gives the switches of the REST dialect.
func (s *Server) dialect() rest.Options {
	set := s.settings
	end, _ := rest.ParseTransactionEnd(set.RestTxEnd) // Check has refused others, as below
	app, _ := ParseAppSettings(set.AppSettings)
	return rest.Options{
		Schemas: set.Schemas, ExtraSearchPath: set.ExtraSearchPath, MaxRows: set.MaxRows,
		Aggregates: set.RestAggregates, LegacyTargetNames: set.LegacyTargetNames,
		RequireFilters: set.RequireFilters, AnswerMemory: int64(set.AnswerMemory), Prefix: restPrefix,
		AnonymousRole: set.RestAnonRole, End: end, PreRequest: functionName(set.RestPreRequest),
		AppSettings: app.settings(), Hoisted: set.RestHoisted, ServerTiming: set.ServerTiming,
		Root: s.restRoot(), Plans: set.RestPlan,
		TransactionTimeout: set.StatementTimeout, IdempotencyRetention: set.idempotencyRetention(),
	}
}
