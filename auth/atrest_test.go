package auth

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"basalt/store/storetest"
)

// TestARotationKnowsEveryPlaceOfSealedSecrets reads the sources: what is sealed in a place that a rotation passes over
// would be lost with the key.
func TestARotationKnowsEveryPlaceOfSealedSecrets(t *testing.T) {
	known := map[string]bool{}
	for _, c := range SealedColumns() {
		known[c.Table] = true
	}
	cell := regexp.MustCompile(`seal\.Cell\{Table: "([^"]*)"`)
	found := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "seal/") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range cell.FindAllSubmatch(text, -1) {
			found++
			if table := string(match[1]); !known[table] {
				t.Errorf("%s seals in %s, which SealedColumns does not name", path, table)
			}
		}
		if strings.Count(string(text), "seal.Cell{") != len(cell.FindAll(text, -1)) {
			t.Errorf("%s makes cells whose table is not to be seen", path)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d places found, %v", found, err)
	}
}

func TestThePlacesOfSealedSecretsExist(t *testing.T) {
	db := storetest.New(t)
	for _, c := range SealedColumns() {
		if _, err := db.Pool.Exec(t.Context(), `select `+c.Row+`, `+c.Column+` from `+c.Table); err != nil {
			t.Errorf("%s.%s: %v", c.Table, c.Column, err)
		}
	}
}
