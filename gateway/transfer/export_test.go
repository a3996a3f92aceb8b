package transfer

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// RefuseWrites makes a database refuse every change of a transfer, as on a full disk, until the
// returned function is called.
func RefuseWrites(t *testing.T, path string) (accept func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(format string) {
		for _, change := range []string{"INSERT", "UPDATE", "DELETE"} {
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf(format, change)); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec("CREATE TRIGGER refuse%[1]s BEFORE %[1]s ON transfers BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
	return func() {
		exec("DROP TRIGGER refuse%s")
		db.Close()
	}
}
