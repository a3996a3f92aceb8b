package policy

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

// TestMachineKnowsFilesThatStartPrograms has a file whose path alone does not show what it does.
func TestMachineKnowsFilesThatStartPrograms(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		q := writeRequest("", protocol.ModeTrust)
		q.Own, q.Preview = "Write", &protocol.CallPreview{Path: corpusCwd + "/env/bin/python"}
		q.Args = json.RawMessage(`{"path":"env/bin/python","content":"x"}`)
		want := Allow
		if known {
			q.Preview.Changes, want = []string{q.Preview.Path}, Ask
		}
		if d := (Policy{Rules: must(t, `{"rules":[]}`)}).Decide(q); d.Verdict != want || d.Floor != known {
			t.Errorf("the machine knows it: %v: got %s (%s), want %s", known, d.Verdict, d.Reason, want)
		}
	}
}
