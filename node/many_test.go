package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
)

func TestFiveHundredCallsAtOnceAllGetTheirResult(t *testing.T) { callAtOnce(t, 500) }

func TestTenThousandCallsAtOnceAllGetTheirResult(t *testing.T) { callAtOnce(t, 10_000) }

// callAtOnce makes calls of a node. Each kind has a distinct result. One in a hundred starts a
// command.
func callAtOnce(t *testing.T, calls int) {
	t.Helper()
	if os.PathSeparator == '/' {
		t.Setenv("SHELL", "/bin/sh")
	}
	g := start(t, nil)
	l, _ := g.accept()
	dir := g.node.ws.Dir()
	if err := os.WriteFile(filepath.Join(dir, "f.txt"), []byte("needle\nhay\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := []struct{ tool, args, want string }{
		{"Read", `{"path":"f.txt"}`, "needle"},
		{"Grep", `{"pattern":"need","include":"f.txt"}`, "needle"},
		{"Glob", `{"pattern":"f.*"}`, "f.txt"},
		{"Process", `{"action":"list"}`, "completed"},
		{"Read", `{"path":"none"}`, "none"},
	}
	want := make(map[protocol.CallID]string, calls)
	for i := range calls {
		id := fmt.Sprint("call", i)
		k := kinds[i%len(kinds)]
		switch {
		case i%100 == 0:
			k.tool, k.args, k.want = "Bash", fmt.Sprintf(`{"command":"echo out%d"}`, i), fmt.Sprintf(`out%d\n`, i)
		case i%100 == 1:
			k.tool, k.args, k.want = "Write", fmt.Sprintf(`{"path":"w%d","content":"x"}`, i%7), `"bytes":1`
		}
		want[protocol.CallID(id)] = k.want
		l.invoke(id, k.tool, k.args)
	}
	for len(want) > 0 {
		r := l.result()
		if text := string(r.Result) + r.Error; !strings.Contains(text, want[r.CallID]) || want[r.CallID] == "" {
			t.Fatalf("call %s: got %s, want %q in it", r.CallID, text, want[r.CallID])
		}
		delete(want, r.CallID)
	}
}

func TestCallsAboveTheBoundWaitTheirTurn(t *testing.T) {
	n := newNodeWithTools(t)
	var working, most atomic.Int32
	full := make(chan struct{})
	reached := sync.OnceFunc(func() { close(full) })
	define := func(name string, fn func(context.Context, access.Call, struct{}) (any, error)) toolkit.Tool[access.Call] {
		return toolkit.Define(name, "", toolkit.Traits{Caps: []string{protocol.CapRead}}, fn)
	}
	hold := make(chan struct{})
	n.setTools([]toolkit.Tool[access.Call]{
		define("Slow", func(context.Context, access.Call, struct{}) (any, error) {
			now := working.Add(1)
			defer working.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			if now == maxCalls {
				reached()
			}
			<-hold
			return "done", nil
		}),
		define("Process", func(context.Context, access.Call, struct{}) (any, error) { return "seen", nil }),
	})
	var wg sync.WaitGroup
	for range 3 * maxCalls {
		wg.Go(func() {
			if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "1", Tool: "Slow"}); string(r.Result) != `"done"` {
				t.Errorf("Slow: got %+v, want its result", r)
			}
		})
	}
	select {
	case <-full:
	case <-time.After(3 * time.Minute):
		t.Fatal("the bound is not reached")
	}
	if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "2", Tool: "Process"}); string(r.Result) != `"seen"` {
		t.Errorf("Process: got %+v, want an answer at once", r)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if r := n.call(stopped, protocol.ToolInvoke{CallID: "3", Tool: "Slow"}); r.Error != "The call was cancelled." {
		t.Errorf("got %+v, want that the waiting call was cancelled", r)
	}
	close(hold)
	wg.Wait()
	if most.Load() != maxCalls {
		t.Errorf("got %d calls at once, want %d", most.Load(), maxCalls)
	}
}
