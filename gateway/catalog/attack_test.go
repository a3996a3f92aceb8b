package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

// The scopes of a call are read from its arguments before it runs. However they are written, what
// runs is what they were read from.
func TestNoSpellingOfArgumentsAvoidsTheScopes(t *testing.T) {
	const target = `"target":{"node_id":"nas"},`
	for name, args := range map[string]string{
		"another case":              `{` + target + `"op":"delete","OP":"list","path":"/x/y/z"}`,
		"twice":                     `{` + target + `"op":"list","op":"delete","path":"/x/y/z"}`,
		"unknown":                   `{` + target + `"op":"DELETE","path":"/x/y/z"}`,
		"batch, another case":       `{` + target + `"op":"batch","ops":[{"op":"delete","OP":"list","path":"/x/y/z"}]}`,
		"batch, case and number":    `{` + target + `"op":"batch","ops":[{"op":"delete","OP":"list","path":"/x/y/z","limit":1e0}]}`,
		"batch, twice":              `{` + target + `"op":"batch","ops":[{"op":"list","op":"delete","path":"/x/y/z","limit":1e0}]}`,
		"batch, broken":             `{` + target + `"op":"batch","ops":[{"limit":"x","op":"delete","path":"/x/y/z"}]}`,
		"batch in a batch":          `{` + target + `"op":"batch","ops":[{"op":"batch","ops":[{"op":"delete","path":"/x/y/z"}]}]}`,
		"batch twice":               `{` + target + `"op":"batch","ops":[{"op":"delete","path":"/x/y/z"}],"ops":[{"op":"list","path":"/x"}]}`,
		"download as part of batch": `{` + target + `"op":"batch","ops":[{"op":"fetch_url","OP":"stat","path":"/x/y/z","url":"http://x.example/","limit":1e0}]}`,
	} {
		b := newBench(t)
		var ran []string
		b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
			ran = append(ran, string(c.Tool))
			return succeed(`{}`), nil
		}
		b.call(app("a", protocol.ScopeFilesRead), "file", args)
		for _, tool := range ran {
			if tool != "nas__fs_list" && tool != "nas__fs_stat" {
				t.Errorf("%s: a token that may only read ran %s, want fs_list and fs_stat only", name, tool)
			}
		}
	}
}

// A nested batch is refused. Unfolding it for its scopes would read each level again with
// everything below it: minutes for one request.
func TestNestedBatchIsNotUnfolded(t *testing.T) {
	b := newBench(t)
	const args = `{"target":{"node_id":"nas"},"op":"batch","ops":[{"op":"batch","ops":[{"op":"stat","path":"/x"}]}]}`
	f := b.checkFault(app("a", protocol.ScopeNetworkRead), "file", args, protocol.FaultForbidden, "")
	if !strings.Contains(string(f.Details), `"required_scopes":["fs.write"]`) {
		t.Errorf("details: got %s, want `\"required_scopes\":[\"fs.write\"]` in Details", f.Details)
	}
	if got := b.must(app("a"), "file", args); !strings.Contains(got, `a batch cannot have the operation`) {
		t.Errorf("got %s, want `a batch cannot have the operation` in it", got)
	}
}

func TestMachineHasOneLimitUnderAllItsNames(t *testing.T) {
	b := newBench(t)
	b.config.API.Limits.Machine = config.RateLimit{PerMinute: 1, Burst: 1}
	b.must(app("a"), "fs_stat", `{"target":{"node_id":"laptop"},"path":"/x"}`)
	for _, target := range []string{`{"node_id":"laptop"}`, `{"node_name":"laptop"}`, `{"node_name":"LapTop"}`, `{"node_name":"Laptop","network_name":"home"}`} {
		b.checkFault(app("b"), "fs_stat", `{"target":`+target+`,"path":"/x"}`, protocol.FaultRateLimited, "machine")
	}
	// Names of no machine have no limits, and do not push those of others out of memory.
	unknown := `{"target":{"node_name":"` + strings.Repeat("x", 1000) + `"}}`
	if got := b.net.machineOf(app("b"), json.RawMessage(unknown)); got != "" {
		t.Errorf(`machine of a call without one: got %q, want ""`, got)
	}
	b.checkFault(app("b"), "fs_stat", strings.TrimSuffix(unknown, "}")+`,"path":"/x"}`, protocol.FaultTargetNotFound, "")
}

func TestOneCallerLeavesRoomForOthers(t *testing.T) {
	b := newBench(t)
	call := func(p auth.Principal, key int) error {
		_, err := b.Catalog.Call(t.Context(), p, Request{Tool: "whoami", Args: []byte(`{}`), IdempotencyKey: fmt.Sprint(key)})
		return err
	}
	for i := range job.MaxOfCaller {
		if err := call(app("a"), i); err != nil {
			t.Fatalf("call %d: got error %v, want none", i, err)
		}
	}
	f, _ := errors.AsType[*protocol.Fault](call(app("a"), job.MaxOfCaller))
	if f == nil || f.Code != protocol.FaultResourceExhausted {
		t.Errorf("one more: got %v, want resource_exhausted", f)
	}
	if err := call(app("a"), 0); err != nil {
		t.Errorf("a repeated call: got error %v, want none", err)
	}
	if err := call(app("b"), 0); err != nil {
		t.Errorf("another caller: got error %v, want none", err)
	}
}

// A key is the caller's own: nobody gets the result of another caller by using the same key.
func TestIdempotencyKeysDoNotCrossTokens(t *testing.T) {
	b := newBench(t)
	n := 0
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		n++
		return succeed(fmt.Sprintf(`{"path":"/secret/%d"}`, n)), nil
	}
	stat := func(p auth.Principal, key string) string {
		r, err := b.Catalog.Call(t.Context(), p, Request{Tool: "fs_stat", Args: []byte(`{"target":{"node_id":"nas"},"path":"/x"}`), IdempotencyKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Data)
	}
	first := stat(app("a"), "k")
	if again := stat(app("a"), "k"); again != first {
		t.Errorf("its own: got %s and %s, want the same", first, again)
	}
	for _, p := range []auth.Principal{app("b"), app("a key"), me} {
		if got := stat(p, "k"); got == first {
			t.Errorf("%s: got the result of a, want one of its own", p.Caller())
		}
	}
	keys := make(map[string]bool)
	for _, c := range b.calls {
		keys[c.IdempotencyKey] = true
	}
	if len(keys) != len(b.calls) {
		t.Errorf("got %d calls with %d keys, want a key for each", len(b.calls), len(keys))
	}
}

// A call that waits belongs to its caller: for others it does not exist.
func TestOutcomeBelongsToItsCaller(t *testing.T) {
	b := newBench(t)
	b.config.API.WaitMs = 1000
	asked := make(chan struct{})
	b.answer = func(ctx context.Context, c tool.Call) (tool.Result, error) {
		c.OnApproval(protocol.Question{ID: "q", CallID: "c1", State: protocol.QuestionPending})
		close(asked)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	b.checkFault(app("a"), "fs_stat", `{"target":{"node_id":"nas"},"path":"/x"}`, protocol.FaultApprovalRequired, "")
	<-asked
	for _, p := range []auth.Principal{app("b"), me, app("a", protocol.ScopeNetworkRead)} { // the last was narrowed
		if _, err := b.jobs.Outcome(t.Context(), p, "c1"); !isNotFound(err) {
			t.Errorf("%s reads the outcome: got error %v, want not found", p.Caller(), err)
		}
		if _, err := b.jobs.Withdraw(t.Context(), p, "c1"); !isNotFound(err) {
			t.Errorf("%s withdraws the call: got error %v, want not found", p.Caller(), err)
		}
	}
	b.jobs.CancelOf("b")
	b.commands.CancelOf("b")
	if _, err := b.jobs.Outcome(t.Context(), app("a"), "c1"); err == nil || isNotFound(err) {
		t.Errorf("the outcome of its own call: got error %v, want that it still waits", err)
	}
}
