package api

import "time"

// AuditSettings are the settings of the audit log.
type AuditSettings struct {
	AuditLog       bool          `flag:"audit-log" default:"true" help:"write what happens to accounts to auth.audit_log_entries"`
	AuditRetention time.Duration `flag:"audit-retention" default:"2160h" help:"how long its entries are kept; 0: for ever"`
}
