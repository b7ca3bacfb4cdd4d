package api

import "time"

// AuditSettings are the settings of the audit logs: of what happens to accounts, and of what administrators change.
type AuditSettings struct {
	AuditLog       bool          `flag:"audit-log" default:"true" title:"Account audit log" help:"write what happens to accounts to auth.audit_log_entries"`
	AuditRetention time.Duration `flag:"audit-retention" default:"2160h" title:"Account audit log: retention" help:"how long its entries are kept; 0: for ever"`

	AdminAuditRetention time.Duration `flag:"admin-audit-retention" start:"true" default:"8760h" title:"Administrator audit log: retention" help:"how long what administrators have changed is kept in basalt.administrator_audit; 0: for ever"`
}
