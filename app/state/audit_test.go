package state

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestAuditLinesAreWrittenWithoutFormulas(t *testing.T) {
	exit := 1
	list := []protocol.AuditEntry{{Seq: 2, At: 1000, Kind: protocol.AuditCall, By: "owner", What: "=HYPERLINK(\"x\")\n\"quoted\"", ExitCode: &exit}, {Seq: 1, What: "ls"}}
	var b strings.Builder
	write := csvLines(&b)
	if err := write(list[:1]); err != nil {
		t.Fatal(err)
	}
	if err := write(list[1:]); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "seq" || rows[1][9] != "'=HYPERLINK(\"x\")\n\"quoted\"" || rows[1][15] != "1" || rows[1][1] != "1970-01-01T00:00:01Z" {
		t.Errorf("%q, %v", rows, err)
	}
	b.Reset()
	if err := jsonLines(&b)(list); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var back protocol.AuditEntry
	if err := json.Unmarshal([]byte(lines[0]), &back); err != nil || len(lines) != 2 || back.What != list[0].What {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestRuleFieldsLeaveTheRestAlone(t *testing.T) {
	raw, err := WithFields(json.RawMessage(`{"tool":"Bash","match":["ls"],"verdict":"allow","expires":"2020-01-01T00:00:00Z"}`), RuleFields{Verdict: "deny"})
	if err != nil || string(raw) != `{"match":["ls"],"tool":"Bash","verdict":"deny"}` {
		t.Errorf("%s, %v", raw, err)
	}
	f, err := FieldsOf(json.RawMessage(`{"verdict":"ask","expires":"2020-01-01T00:00:00Z"}`))
	if err != nil || f.Verdict != "ask" || !f.Expires.Equal(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := WithFields(json.RawMessage(`[]`), f); err == nil {
		t.Error("a list was taken for a rule")
	}
}

func TestTheGatewaysOwnToolsAreOnNoMachine(t *testing.T) {
	for node, want := range map[protocol.NodeID]string{"gsv": "Bash x in the gateway", "nas": "Bash x on nas"} {
		if got, _ := AuditLine(protocol.AuditEntry{Kind: protocol.AuditCall, Node: node, Tool: "Bash", What: "x"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
