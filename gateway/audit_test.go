//go:build unix

package gateway_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"

	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// withGateway runs a gateway on a data folder while f runs.
func withGateway(t *testing.T, home string, f func(*client.Client)) {
	t.Helper()
	g, stop := gatewaytest.Start(t, home, "127.0.0.1:0")
	c, hangUp := dial(t, g.URL())
	f(c)
	hangUp()
	stop()
}

func TestAuditLogThatWasCutOffIsNoticed(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "kill-test")
	home := t.TempDir()
	withGateway(t, home, func(c *client.Client) {
		for _, program := range []string{"make", "go", "git"} {
			call(t, c, protocol.RulePut, protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Bash","argv":["` + program + `"],"verdict":"allow"}`)})
		}
		if r := call(t, c, protocol.AuditVerify, protocol.Empty{}); r.Lines != 3 || r.Broken != 0 {
			t.Errorf("got %+v; want Lines 3 and Broken 0", r)
		}
	})
	db, err := sql.Open("sqlite", filepath.Join(home, "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM audit WHERE seq = 3"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for range 2 { // a restart with the shorter log does not make it valid
		withGateway(t, home, func(c *client.Client) {
			if r := call(t, c, protocol.AuditVerify, protocol.Empty{}); r.Broken != 3 || !strings.Contains(r.Why, "ends before") {
				t.Errorf(`got %+v; want Broken 3 and "ends before" in Why`, r)
			}
		})
	}
}
