package migrations

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

// UserAdopt saves statements that were carried out as a migration in dir, and records it as applied in the transaction
// that is open on conn. It returns the path of the file, which the caller removes when that transaction does not commit.
// Separate says that the statements cannot be in one transaction.
func UserAdopt(ctx context.Context, conn *pgx.Conn, dir, name string, statements []string, separate bool) (string, error) {
	if _, err := conn.Exec(ctx, `select pg_catalog.pg_advisory_xact_lock($1)`, userLock); err != nil {
		return "", err
	}
	path, err := UserNew(dir, name)
	if err != nil {
		return "", err
	}
	if err := adopt(ctx, conn, dir, path, statements, separate); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

func adopt(ctx context.Context, conn *pgx.Conn, dir, path string, statements []string, separate bool) error {
	var text strings.Builder
	if separate {
		text.WriteString("-- " + separateMark + "\n\n")
	}
	for _, statement := range statements {
		statement = strings.TrimRight(statement, "; \t\r\n")
		text.WriteString(statement)
		if last := statement[strings.LastIndexByte(statement, '\n')+1:]; strings.Contains(last, "--") {
			text.WriteString("\n") // a comment would swallow the semicolon
		}
		text.WriteString(";\n\n")
	}
	if err := os.WriteFile(path, []byte(strings.TrimSuffix(text.String(), "\n")), 0o644); err != nil {
		return fmt.Errorf("write the migration: %w", err)
	}
	files, _, err := readFolder(dir)
	if err != nil {
		return err
	}
	file := files[len(files)-1] // the newest: UserNew saw to that
	script, err := parseScript(file)
	if err != nil {
		return err
	}
	return (&run{conn: conn, file: file, script: script}).finish(ctx)
}
