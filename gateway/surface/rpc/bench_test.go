package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// percentiles reports the median and the 99th percentile of the durations of f, which is called for
// every round of the benchmark.
func percentiles(b *testing.B, f func()) {
	took := make([]time.Duration, 0, 1<<16)
	for b.Loop() {
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkEchoTwoHops is the lower bound: bare WebSocket messages from a client through a relay to
// an echo and back, over TCP.
func BenchmarkEchoTwoHops(b *testing.B) {
	var up websocket.Upgrader
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for {
			kind, data, err := ws.ReadMessage()
			if err != nil || ws.WriteMessage(kind, data) != nil {
				return
			}
		}
	}))
	defer echo.Close()
	dial := func(url string) *websocket.Conn {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http"), nil)
		if err != nil {
			b.Fatal(err)
		}
		return ws
	}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		near, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer near.Close()
		far := dial(echo.URL)
		defer far.Close()
		for {
			kind, data, err := near.ReadMessage()
			if err != nil || far.WriteMessage(kind, data) != nil {
				return
			}
			kind, data, err = far.ReadMessage()
			if err != nil || near.WriteMessage(kind, data) != nil {
				return
			}
		}
	}))
	defer relay.Close()
	ws := dial(relay.URL)
	defer ws.Close()
	frame, err := protocol.EncodeRequest("1", protocol.InvokeTool.Name, protocol.ToolInvokeParams{Tool: "n__Echo", Args: json.RawMessage(`{"i":1}`)})
	if err != nil {
		b.Fatal(err)
	}
	percentiles(b, func() {
		if err := ws.WriteMessage(websocket.TextMessage, frame); err != nil {
			b.Fatal(err)
		}
		if _, _, err := ws.ReadMessage(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkInvoke measures a tool.invoke that does nothing, from a client through the gateway to a
// node and back, over TCP.
func BenchmarkInvoke(b *testing.B) {
	_, dial := tcp(b, newFakes())
	defer connectNode(b, dial, "n", func(inv protocol.ToolInvoke) protocol.ToolResultParams {
		return protocol.ToolResultParams{Result: inv.Args}
	})()
	c, stop := connect(b, dial, client.Options{})
	defer stop()
	in := protocol.ToolInvokeParams{Tool: "n__Echo", Args: json.RawMessage(`{"i":1}`)}
	percentiles(b, func() {
		if _, err := client.Call(b.Context(), c, protocol.InvokeTool, in); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkRequest measures a request that does nothing, over TCP and within the process.
func BenchmarkRequest(b *testing.B) {
	run := func(b *testing.B, dial func(context.Context) (net.Conn, error)) {
		c, stop := connect(b, dial, client.Options{})
		defer stop()
		percentiles(b, func() {
			if _, err := client.Call(b.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("tcp", func(b *testing.B) {
		_, dial := tcp(b, newFakes())
		run(b, dial)
	})
	b.Run("memory", func(b *testing.B) {
		s, stop := open(newFakes())
		defer stop()
		run(b, s.owner)
	})
}

// BenchmarkMessageTo50 measures one message to 50 windows over TCP, until the last one has it.
func BenchmarkMessageTo50(b *testing.B) {
	f := newFakes()
	_, dial := tcp(b, f)
	const windows = 50
	var got sync.WaitGroup
	ready := make(chan struct{}, windows)
	ctx, cancel := context.WithCancel(b.Context())
	var feeds sync.WaitGroup
	for range windows {
		c, stop := connect(b, dial, client.Options{})
		defer stop()
		feeds.Go(func() {
			c.Feed(ctx, func(protocol.FeedSnapshot) { ready <- struct{}{} }, func(ch protocol.Change) {
				if ch.Message != nil {
					got.Done()
				}
			})
		})
	}
	for range windows {
		<-ready
	}
	// The last answer may still be in progress before its pusher runs: one change that all have
	// received settles it.
	seq := int64(0)
	send := func() {
		seq++
		m := protocol.Message{Seq: seq, Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(fmt.Sprintf("word %d ", seq))}}
		got.Add(windows)
		f.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: protocol.MainSession, Message: &m})
		got.Wait()
	}
	send()
	percentiles(b, send)
	cancel()
	feeds.Wait()
}
