package store

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAnOlderDatabaseIsUpgradedAndKeepsItsData(t *testing.T) {
	for version := firstVersion; version <= schemaVersion; version++ {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "old.db")
			old := must(connect(path, 1, "immediate"))(t)
			statements := append([]string{createTables}, upgrades[:version-firstVersion]...)
			for _, sql := range append(statements, fmt.Sprint("PRAGMA user_version = ", version), `INSERT INTO settings (key, value) VALUES ('a', '1')`) {
				if err := old.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
			}
			must(old.DB())(t).Close()

			for range 2 { // an upgraded one is opened like a new one
				s := must(Open(t.Context(), path))(t)
				if all := must(s.Settings.All(t.Context()))(t); string(all["a"]) != "1" {
					t.Errorf("settings are %s", all)
				}
				app := protocol.App{ID: "app_1", Name: "editor", Scopes: []protocol.Scope{protocol.ScopeFilesRead}}
				if err := s.Apps.Apply(t.Context(), AppChange{Put: []protocol.App{app}}); err != nil {
					t.Error(err)
				}
				if err := s.Servers.Put(t.Context(), "time", AcceptedTools{"now": {Hash: "h"}}); err != nil {
					t.Error(err)
				}
				if list := must(s.Servers.List(t.Context()))(t); list["time"]["now"].Hash != "h" {
					t.Errorf("servers are %v", list)
				}
				s.Close()
			}
		})
	}
}
