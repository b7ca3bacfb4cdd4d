package rest

import (
	"fmt"

	"basalt/query"
)

// TransactionEnd is how the transactions of requests end. The zero value commits, whatever clients prefer.
type TransactionEnd struct {
	Rollback bool // what was changed is undone once the answer is known
	Override bool // Prefer: tx=commit and tx=rollback decide
}

// ParseTransactionEnd reads commit, commit-allow-override, rollback or rollback-allow-override.
func ParseTransactionEnd(text string) (TransactionEnd, error) {
	switch text {
	case "commit":
		return TransactionEnd{}, nil
	case "commit-allow-override":
		return TransactionEnd{Override: true}, nil
	case "rollback":
		return TransactionEnd{Rollback: true}, nil
	case "rollback-allow-override":
		return TransactionEnd{Rollback: true, Override: true}, nil
	}
	return TransactionEnd{}, fmt.Errorf("%q is none of commit, commit-allow-override, rollback, rollback-allow-override", text)
}

// rollsBack says that a request's transaction is undone.
func (e TransactionEnd) rollsBack(p *query.Preferences) bool {
	switch p.Transaction {
	case query.TransactionCommit:
		return false
	case query.TransactionRollback:
		return true
	}
	return e.Rollback
}
