//go:build unix

package gateway_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// refusal is a gateway whose store or secrets can be made to refuse changes.
type refusal struct {
	*programs
	db      *sql.DB
	channel *client.Client      // a connection of a channel
	peer    *client.Client      // the connection that a row made last: of a machine, or of a device
	left    []protocol.NodeID   // machines of earlier subtests, which disconnect
	n       int                 // of the last thing that a row made
	asked   protocol.QuestionID // the last question that a row caused
}

func openRefusal(t *testing.T) *refusal {
	p := openPrograms(t)
	db, err := sql.Open("sqlite", filepath.Join(p.home, "fairlead.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := openWire(t, p.gw.URL(), "gateway-token-of-the-test")
	t.Cleanup(w.stop)
	return &refusal{programs: p, db: db, channel: w.Client}
}

// name returns a new name.
func (r *refusal) name(kind string) string {
	r.n++
	return fmt.Sprintf("%s%d", kind, r.n)
}

// setStore makes every table refuse changes, or accept them again.
func (r *refusal) setStore(refuses bool) {
	r.t.Helper()
	rows, err := r.db.Query("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%search_%' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			r.t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil || len(tables) < 20 {
		r.t.Fatalf("got %d tables, %v; want no error and length at least 20", len(tables), err)
	}
	for _, table := range tables {
		for _, change := range []string{"INSERT", "UPDATE", "DELETE"} {
			text := fmt.Sprintf("DROP TRIGGER refuse_%s_%s", table, change)
			if refuses {
				text = fmt.Sprintf("CREATE TRIGGER refuse_%[1]s_%[2]s BEFORE %[2]s ON %[1]s BEGIN SELECT RAISE(ABORT, 'the test refuses this'); END", table, change)
			}
			if _, err := r.db.Exec(text); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// setSecrets makes the file of secrets refuse changes, or accept them again.
func (r *refusal) setSecrets(refuses bool) {
	r.t.Helper()
	path := filepath.Join(r.home, "secrets.json")
	steps := []error{}
	if refuses {
		steps = append(steps, os.Rename(path, path+".away"), os.MkdirAll(filepath.Join(path, "folder"), 0o700))
	} else {
		steps = append(steps, os.RemoveAll(path), os.Rename(path+".away", path))
	}
	for _, err := range steps {
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// setFiles makes the agent's workspace refuse changes, or accept them again.
func (r *refusal) setFiles(refuses bool) {
	r.t.Helper()
	path := filepath.Join(r.home, "agents", "main")
	steps := []error{}
	if refuses {
		steps = append(steps, os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
	} else {
		steps = append(steps, os.Remove(path), os.Rename(path+".away", path))
	}
	for _, err := range steps {
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// changing are the fields of results that change on their own.
var changing = []string{"refreshedAt", "uptime", "latencyMs", "lastSeenAt", "nextHeartbeatAt", "estimatedTokens", "lastUsedAt", "unseen", "pingAt", "pingMs"}

// connecting are the further fields that change while a channel tries to connect.
var connecting = []string{"retryAt", "error", "state"}

// state returns what the owner sees of everything that is stored.
func (r *refusal) state() string {
	r.t.Helper()
	var b strings.Builder
	for _, q := range []struct{ method, params string }{
		{"config.get", `{}`},
		{"sessions.list", `{}`},
		{"session.history", `{"sessionKey":"agent:main:main"}`},
		{"session.preview", `{"sessionKey":"agent:main:main"}`},
		{"rules.list", `{}`},
		{"question.list", `{}`},
		{"transfer.list", `{}`},
		{"cron.list", `{}`},
		{"cron.runs", `{}`},
		{"heartbeat.status", `{}`},
		{"device.list", `{}`},
		{"nodes.list", `{}`},
		{"apps.list", `{}`},
		{"channel.status", `{"channel":"xmpp"}`},
		{"pair.list", `{}`},
		{"skills.status", `{}`},
		{"workspace.list", `{}`},
		{"audit.list", `{}`},
		{"usage.report", `{}`},
		{"status.get", `{}`},
	} {
		raw, err := r.raw(r.owner, q.method, json.RawMessage(q.params))
		if err != nil {
			r.t.Fatalf("%s: %v", q.method, err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			r.t.Fatal(err)
		}
		fields := changing
		if q.method == "channel.status" {
			fields = slices.Concat(fields, connecting)
		}
		strip(v, fields)
		line, err := json.Marshal(v)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", q.method, line)
	}
	return b.String()
}

func strip(v any, fields []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			if slices.Contains(fields, name) {
				delete(v, name)
			}
			strip(part, fields)
		}
	case []any:
		for _, part := range v {
			strip(part, fields)
		}
	}
}

// raw calls a method over a connection.
func (r *refusal) raw(by *client.Client, method string, params any) (json.RawMessage, error) {
	return client.Call(r.t.Context(), by, protocol.Method[any, json.RawMessage]{Name: method}, params)
}

// isIdle reports whether nothing that earlier calls started is still in progress.
func (r *refusal) isIdle() bool {
	if r.asked != "" {
		q := ask(r.accessGateway, protocol.QuestionGet, protocol.QuestionParams{ID: r.asked})
		calls := ask(r.accessGateway, protocol.JournalList, protocol.JournalListParams{Limit: 1, CallID: q.CallID}).Calls
		if q.Allowed() && (len(calls) == 0 || calls[0].EndedAt == 0) {
			return false
		}
	}
	for _, s := range ask(r.accessGateway, protocol.SessionsList, protocol.SessionsListParams{}).Sessions {
		if st := ask(r.accessGateway, protocol.SessionGetStat, protocol.SessionParams{SessionKey: s.SessionKey}); st.IsProcessing || st.QueueSize > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(ask(r.accessGateway, protocol.TransferList, protocol.TransferListParams{}).Transfers, func(t protocol.Transfer) bool {
		return t.State == protocol.TransferRunning
	}) && !slices.ContainsFunc(ask(r.accessGateway, protocol.CronRuns, protocol.CronRunsParams{}).Runs, func(c protocol.CronRun) bool {
		return c.Status == protocol.CronRunning
	})
}

// difference returns the lines that differ.
func difference(before, after string) string {
	was := strings.Split(before, "\n")
	var b strings.Builder
	for i, line := range strings.Split(after, "\n") {
		if i >= len(was) || line != was[i] {
			fmt.Fprintf(&b, "\nwas %s\nis  %s", was[min(i, len(was)-1)], line)
		}
	}
	return b.String()
}

// TestNothingIsAcknowledgedBeforeItIsStored calls every method that changes something while nothing
// can be stored: each fails, changes nothing, and works afterwards.
func TestNothingIsAcknowledgedBeforeItIsStored(t *testing.T) {
	r := openRefusal(t)
	known := map[string]bool{}
	for _, m := range protocol.Methods {
		known[m.Name] = true
		rows, hasRows := storingMethods[m.Name]
		report, isReport := transferReports[m.Name]
		if _, isOther := otherMethods[m.Name]; hasRows == (isOther || isReport) {
			t.Errorf("%s: is in storingMethods: %v, in transferReports: %v, in otherMethods: %v; want one of them", m.Name, hasRows, isReport, isOther)
		}
		if isReport {
			t.Run(m.Name, func(t *testing.T) {
				r.t = t
				r.report(m.Name, report)
			})
		}
		for i, c := range rows {
			t.Run(fmt.Sprintf("%s %d", m.Name, i), func(t *testing.T) {
				r.t = t
				if c.isFile {
					r.refuse(m.Name, c, r.setFiles)
					return
				}
				r.refuse(m.Name, c, r.setStore)
				if c.hasSecret {
					r.refuse(m.Name, c, r.setSecrets)
				}
			})
		}
	}
	for name := range storingMethods {
		if !known[name] {
			t.Errorf("%s is no method", name)
		}
	}
	for name := range otherMethods {
		if !known[name] {
			t.Errorf("%s is no method", name)
		}
	}
}

// refuse makes one call while what it needs refuses changes, and then once more.
func (r *refusal) refuse(method string, c storingCall, set func(bool)) {
	polltest.Until(r.t, "earlier machines are offline", r.hasLeft)
	params, by := c.prepare(r), r.owner
	if c.by != nil {
		by = c.by(r)
	}
	if !c.isRunning {
		polltest.Until(r.t, "no run is in progress", r.isIdle)
	}
	var before string
	if c.isFile { // which the state is read from
		before = r.state()
		set(true)
	} else {
		set(true)
		before = r.state()
	}
	raw, err := r.raw(by, method, params)
	failed := err != nil || c.failed != nil && c.failed(raw)
	if c.isFile {
		set(false)
	}
	after := r.state()
	if !c.isFile {
		set(false)
	}
	if !failed {
		r.t.Errorf("%s while nothing can be stored: got %s, want an error", method, raw)
	}
	if after != before {
		r.t.Errorf("%s changed something although it failed (%v): %s", method, err, difference(before, after))
	}
	if method == "agent.pause" {
		ask(r.accessGateway, protocol.AgentPause, protocol.PauseParams{})
	}
	raw, err = r.raw(by, method, params)
	if c.needsNetwork {
		if !errors.Is(err, protocol.ErrUnavailable) {
			r.t.Errorf("%s afterwards: got %s, %v, want that its server cannot be reached", method, raw, err)
		}
	} else if err != nil || c.failed != nil && c.failed(raw) {
		r.t.Errorf("%s afterwards: got %s, %v, want success", method, raw, err)
	} else if c.await != nil {
		c.await(r)
	}
}
