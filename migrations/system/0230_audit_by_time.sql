-- The audit log is read from its newest entry on, and loses its oldest.

create index if not exists audit_log_entries_created_at_idx on auth.audit_log_entries (created_at);
