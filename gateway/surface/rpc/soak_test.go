//go:build unix

package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// soakTime is the duration of TestSoak, such as 5m, with 200 nodes and 200 clients. Without it, the
// test is short and small.
const soakTime = "FAIRLEAD_SOAK"

// watcher holds the state that one client has seen: it starts anew with every snapshot.
type watcher struct {
	mu     sync.Mutex // guards the fields below
	label  string
	online map[protocol.NodeID]bool
}

func (w *watcher) begin(s protocol.FeedSnapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.online = map[protocol.NodeID]bool{}
	for _, n := range s.Nodes {
		w.online[n.ID] = n.Online
	}
	for _, e := range s.Sessions {
		if e.SessionKey == protocol.MainSession {
			w.label = e.Label
		}
	}
}

func (w *watcher) change(c protocol.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case c.Kind == protocol.ChangeNode:
		w.online[c.Node.ID] = c.Node.Online
	case c.Kind == protocol.ChangeSession && c.Session.SessionKey == protocol.MainSession:
		w.label = c.Session.Label
	}
}

// missing describes what the watcher does not know; empty for nothing.
func (w *watcher) missing(label string, nodes int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	online := 0
	for id, on := range w.online {
		if on && id != "n" {
			online++
		}
	}
	if w.label != label || online != nodes {
		return fmt.Sprintf("label %q, %d nodes online", w.label, online)
	}
	return ""
}

// reconnectAtRandom connects and is disconnected at random until calm is closed; its last
// connection stays until ctx ends.
func reconnectAtRandom(ctx context.Context, calm <-chan struct{}, connect func(context.Context)) {
	for {
		life, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { connect(life) })
		cut := time.NewTimer(time.Duration(rand.IntN(1500)+20) * time.Millisecond)
		select {
		case <-calm:
			cut.Stop()
			wg.Wait()
			cancel()
			return
		case <-cut.C:
		}
		cancel()
		wg.Wait()
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// waitUntil waits for ok, at most three minutes: with 400 simultaneous connections, a busy machine
// needs more than one.
func waitUntil(ok func() bool) bool {
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

func TestSoak(t *testing.T) {
	last, peers := 2*time.Second, 20
	if text := os.Getenv(soakTime); text != "" {
		var err error
		if last, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		peers = 200
	}
	l := startLive(t)
	url := l.gw.URL()
	if _, err := client.Call(t.Context(), l.client, protocol.SessionCreate, protocol.SessionCreateParams{SessionKey: protocol.MainSession}); err != nil {
		t.Fatal(err)
	}
	label := func(s string) { // on a busy machine even this connection may fail
		var err error
		if !waitUntil(func() bool {
			_, err = client.Call(t.Context(), l.client, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: protocol.MainSession, Label: &s})
			return err == nil
		}) {
			t.Error(err)
		}
	}
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	calm := make(chan struct{})
	var wg sync.WaitGroup
	var made atomic.Int64 // connections
	watchers := make([]*watcher, peers)
	for i := range peers {
		node := func(life context.Context) {
			c := client.New(client.Options{URL: url, Token: "fl_test", Connect: func() protocol.ConnectParams {
				p := gateway.ClientParams(fmt.Sprint("soak-", i))
				p.Client.Mode = protocol.ModeNode
				p.Tools = []protocol.ToolSpec{{Name: "Echo", Description: "Echoes", Effect: protocol.EffectRead, InputSchema: json.RawMessage(`{"type":"object"}`)}}
				p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapRead}, ToolCapabilities: map[string][]string{"Echo": {protocol.CapRead}}}
				return p
			}})
			// A cancelled handshake may be served after the next one, and then replaces it: Run
			// then ends permanently.
			for life.Err() == nil {
				c.Run(life)
			}
		}
		w := &watcher{online: map[protocol.NodeID]bool{}}
		watchers[i] = w
		window := func(life context.Context) {
			c := client.New(client.Options{URL: url, Token: "fl_test", Connect: func() protocol.ConnectParams { return gateway.ClientParams(fmt.Sprint("window-", i)) }})
			var both sync.WaitGroup
			both.Go(func() { c.Run(life) })
			both.Go(func() { c.Feed(life, w.begin, w.change) })
			both.Wait()
		}
		for _, connect := range []func(context.Context){node, window} {
			wg.Go(func() {
				reconnectAtRandom(ctx, calm, func(life context.Context) { made.Add(1); connect(life) })
			})
		}
	}
	// Data in transit varies: of each third of the time, the smallest heap counts.
	began, n, least, looked := time.Now(), 0, [3]uint64{}, time.Time{}
	for third := range least { // even a busy machine measures at least once in each
		for least[third] == 0 || time.Since(began) < last*time.Duration(third+1)/3 {
			n++
			label(fmt.Sprint(n))
			if least[third] == 0 || time.Since(looked) > last/30 {
				if h := heap(); least[third] == 0 || h < least[third] {
					least[third] = h
				}
				looked = time.Now()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	close(calm)
	label("end")
	for i, w := range watchers {
		if !waitUntil(func() bool { return w.missing("end", peers) == "" }) {
			t.Errorf("window %d: got not all changes, want them: %s", i, w.missing("end", peers))
		}
	}
	cancel()
	wg.Wait()
	if !waitUntil(func() bool { return runtime.NumGoroutine() <= before+4 }) {
		t.Errorf("got %d goroutines, want %d as before", runtime.NumGoroutine(), before)
	}
	runs, goroutines := made.Load(), runtime.NumGoroutine()
	t.Logf("%s: %d connections, %d labels; %d goroutines before, %d after; smallest heap of each third %d, %d, %d KiB, after all %d KiB",
		last, runs, n, before, goroutines, least[0]>>10, least[1]>>10, least[2]>>10, heap()>>10)
	if early, late := least[1], least[2]; late > early+early/4+(8<<20) {
		t.Errorf("got a heap of %d KiB, want about %d KiB", late>>10, early>>10)
	}
}

// BenchmarkNodeMemory measures the memory of a connected node at the gateway (goal: at most 100
// KB): heap and stacks of both ends, which share this process, so it is an upper bound.
func BenchmarkNodeMemory(b *testing.B) {
	l := startLive(b)
	const nodes = 1000
	used := func() uint64 {
		var m runtime.MemStats
		heap()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg, up sync.WaitGroup
	before := used()
	for i := range nodes {
		up.Add(1)
		c := client.New(client.Options{
			URL: l.gw.URL(), Token: "fl_test", OnUp: func(context.Context, protocol.ConnectResult) { up.Done() },
			Connect: func() protocol.ConnectParams {
				p := gateway.ClientParams(fmt.Sprint("mass-", i))
				p.Client.Mode = protocol.ModeNode
				p.Tools = []protocol.ToolSpec{{Name: "Echo", Description: "Echoes", InputSchema: json.RawMessage(`{"type":"object"}`)}}
				p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapRead}, ToolCapabilities: map[string][]string{"Echo": {protocol.CapRead}}}
				return p
			},
		})
		wg.Go(func() { c.Run(ctx) })
	}
	up.Wait()
	for b.Loop() {
		b.ReportMetric(float64(used()-before)/nodes/1024, "KiB/node")
	}
	cancel()
	wg.Wait()
}
