package audit

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestExportedAuditLinesContainNoFormulas(t *testing.T) {
	exit := 1
	list := []protocol.AuditEntry{{Seq: 2, At: 1000, Kind: protocol.AuditCall, By: "owner", What: "=HYPERLINK(\"x\")\n\"quoted\"", ExitCode: &exit}, {Seq: 1, What: "a:x to b:", Undo: true}}
	var b strings.Builder
	if err := writeCSV(&b, list[:1], true); err != nil {
		t.Fatal(err)
	}
	if err := writeCSV(&b, list[1:], false); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "seq" || rows[1][9] != "'=HYPERLINK(\"x\")\n\"quoted\"" || rows[1][15] != "1" || rows[1][1] != "1970-01-01T00:00:01Z" {
		t.Errorf(`got %q, %v; want no error, length 3, rows[0][0] "seq", rows[1][9] "'=HYPERLINK(\"x\")\n\"quoted\"", rows[1][15] "1" and rows[1][1] "1970-01-01T00:00:01Z"`, rows, err)
		if u := []string{rows[0][17], rows[1][17], rows[2][17]}; u[0] != "undo" || u[1] != "" || u[2] != "yes" {
			t.Errorf("the column of undos: got %q, want undo, empty and yes", u)
		}
	}
	b.Reset()
	if err := writeJSON(&b, list, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var back protocol.AuditEntry
	if err := json.Unmarshal([]byte(lines[0]), &back); err != nil || len(lines) != 2 || back.What != list[0].What {
		t.Errorf("got %q, %v; want no error, length 2 and back.What %v", lines, err, list[0].What)
	}
}

func TestAuditLinesNameTheActorInWords(t *testing.T) {
	v := feed.View{Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "agent:main:1", Title: "The parser"}}}}
	for by, want := range map[string]string{
		"owner":               "you (owner)",
		"owner cli-8d3f":      "you on the command line (owner cli-8d3f)",
		"owner this computer": "you (owner this computer)",
		"owner phone":         "you on phone (owner phone)",
		"agent agent:main:1":  "the agent in “The parser” (agent agent:main:1)",
		"rule r1":             "the rule “allow ls” (rule r1)",
		"default":             "default",
	} {
		t.Run(by, func(t *testing.T) {
			if got := deciderOf(protocol.AuditEntry{By: by, Rule: "r1", Why: "r1: allow ls"}, v); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestAuditLinesShowDisplayNames(t *testing.T) {
	v := feed.View{
		Machines: []protocol.NodeInfo{{ID: "nas", Name: "Cellar"}, {ID: "box"}},
		Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "agent:main:1", Title: "The parser"}, {SessionKey: "agent:main:2"}}},
	}
	for _, c := range []struct {
		e                    protocol.AuditEntry
		title, machine, chat string
	}{
		{protocol.AuditEntry{Kind: protocol.AuditCall, Node: "nas", SessionKey: "agent:main:1", Tool: "Bash", What: "x"}, "Chat “The parser”: run “x” on Cellar", "Cellar (nas)", "The parser (agent:main:1)"},
		{protocol.AuditEntry{Kind: protocol.AuditCall, Node: "box", SessionKey: "agent:main:2", Tool: "Bash", What: "x"}, "Chat “New chat”: run “x” on box", "box", "New chat (agent:main:2)"},
		{protocol.AuditEntry{Kind: protocol.AuditCall, Node: "gone", SessionKey: "old", Tool: "Bash", What: "x"}, "Chat “old”: run “x” on gone", "gone", "old"},
		{protocol.AuditEntry{Kind: protocol.AuditCall, Node: protocol.NativePrefix, Tool: "Note", What: "x"}, "Use Note: x on the gateway", "the gateway", ""},
		{protocol.AuditEntry{Kind: protocol.AuditMode, SessionKey: "agent:main:1", What: "trust"}, "Set approvals in “The parser” to “trust”", "", "The parser (agent:main:1)"},
	} {
		t.Run(c.title, func(t *testing.T) {
			title, _ := feed.AuditLine(c.e, v)
			machine, chat := placeOf(c.e, v)
			if title != c.title || machine != c.machine || chat != c.chat {
				t.Errorf("%q, %q, %q, want %+v", title, machine, chat, c)
			}
		})
	}
}

func TestOnlyLinesThatGrantAccessCanBeRevoked(t *testing.T) {
	call := func(why, verdict string) protocol.AuditEntry {
		return protocol.AuditEntry{Kind: protocol.AuditCall, Approval: "a", Why: why, Verdict: verdict}
	}
	for _, c := range []struct {
		e    protocol.AuditEntry
		want bool
	}{
		{call("allowed session", "allow"), true},
		{call("allowed always", "allow"), true},
		{call("allowed once", "allow"), false},
		{call("edited once", "allow"), false},
		{call("the question was denied", "deny"), false},
		{call("the question was expired", "deny"), false},
		{protocol.AuditEntry{Kind: protocol.AuditCall, Why: "reading is free", Verdict: "allow"}, false},
		{protocol.AuditEntry{Kind: protocol.AuditCall, Rule: "r", Verdict: "allow"}, true},
		{protocol.AuditEntry{Kind: protocol.AuditRuleMade, Rule: "r"}, true},
		{protocol.AuditEntry{Kind: protocol.AuditRuleDeleted, Rule: "r"}, false},
		{protocol.AuditEntry{Kind: protocol.AuditGrantWithdrawn, Approval: "a"}, false},
	} {
		if got := createdPermission(c.e); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.e, got, c.want)
		}
	}
}
