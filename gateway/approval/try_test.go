package approval

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// anyHost returns the host of every machine in these tests.
func anyHost(protocol.NodeID) *protocol.HostInfo { return &protocol.HostInfo{Workspace: "/srv/app"} }

// TestSavedRuleAllowsOnlyWhatItsPreviewListed tries random rules on a random history and then saves
// them: each call that is newly allowed was in the preview.
func TestSavedRuleAllowsOnlyWhatItsPreviewListed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	program := func() string {
		return pick("make", "git", "go", "ls", "./run.sh") + " " + pick("test", "status", "push --force", "-n", "a b", "") + pick("", "", "; ls", " && git push", " > out.txt", " $(date)", " | sort")
	}
	listed, total := 0, 0
	for round := range 150 {
		r := rulesOf(t, config.Default().ToolApproval)
		if round%3 == 0 {
			put(t, r, `{"tool":"Bash","argv":["git","push","**"],"verdict":"deny"}`)
		}
		var calls []protocol.JournalEntry
		requests := map[protocol.CallID]policy.Request{}
		for i := range 30 {
			q := command(program())
			if rng.IntN(3) == 0 {
				q = change(pick("Write", "Edit"), pick("/srv/app/docs/a.md", "/srv/app/a.go", "/etc/hosts", "/srv/app/docs/deep/b.md"), false)
				q.Preview.Outside = q.Preview.Path == "/etc/hosts"
			}
			q.Node, q.Session = protocol.NodeID(pick("n", "m")), protocol.SessionKey(pick("chat", "other"))
			id := protocol.CallID(fmt.Sprint(i))
			requests[id] = q
			calls = append(calls, protocol.JournalEntry{CallID: id, Node: q.Node, Tool: q.Bare, Effect: q.Effect, Input: q.Args, SessionKey: q.Session, Preview: q.Preview})
		}
		rule := map[string]any{"verdict": "allow"}
		if rng.IntN(3) == 0 {
			rule["tool"], rule["path"] = pick("Write", "Edit"), pick("docs/**", "*.go", "/srv/app/docs/*", "**")
		} else {
			rule["tool"], rule["argv"] = "Bash", [][]string{{"make", "test"}, {"git", "**"}, {"ls", "*"}, {"ls"}, {"go", "*", "**"}, {"git", "push", "**"}}[rng.IntN(6)]
		}
		if rng.IntN(3) == 0 {
			rule["node"] = pick("n", "m")
		}
		if rng.IntN(4) == 0 {
			rule["session"] = pick("chat", "other")
		}
		raw, err := json.Marshal(rule)
		if err != nil {
			t.Fatal(err)
		}
		preview, err := r.Try(calls, anyHost, protocol.RuleTryParams{Policy: raw, Limit: len(calls)})
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		shown := map[protocol.CallID]bool{}
		for _, c := range preview.Changed {
			shown[c.Call.CallID] = true
		}
		before := map[protocol.CallID]policy.Verdict{}
		for id, q := range requests {
			before[id] = r.Evaluate(q).Verdict
		}
		put(t, r, string(raw))
		for id, q := range requests {
			now := r.Evaluate(q).Verdict
			if now == policy.Allow && before[id] != policy.Allow && !shown[id] {
				t.Errorf("%s lets %s %s %s through, and its preview did not say so", raw, q.Bare, q.Args, q.Preview.Path)
			}
			if shown[id] {
				listed++
			}
			total++
		}
	}
	if listed < total/100 {
		t.Errorf("only %d of %d calls were listed: this proves nothing", listed, total)
	}
}
