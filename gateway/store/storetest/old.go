// Package storetest creates stores in the format of earlier versions, for tests of the start after
// an update.
package storetest

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	_ "github.com/glebarez/go-sqlite" // the driver "sqlite"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Old creates a store of format 16 at path, with a chat of some messages. Three migrations bring it
// up to date; the first one runs in parts.
func Old(t testing.TB, path string, key protocol.SessionKey, messages int) {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var list []protocol.Message
	for i := range messages {
		list = append(list, protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(fmt.Sprint("message ", i))}})
	}
	if _, err := s.Append(t.Context(), key, list...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "DROP TABLE noted; DROP TABLE audit_terms; PRAGMA user_version = 16"); err != nil {
		t.Fatal(err)
	}
}
