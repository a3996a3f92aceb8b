//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway"
	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// BenchmarkInvoke measures tool.invoke through the whole gateway, including the journal on disk, to
// a node that answers at once. The echo of gateway/surface/rpc is its lower bound.
func BenchmarkInvoke(b *testing.B) {
	for _, effect := range []protocol.Effect{protocol.EffectRead, protocol.EffectExec} {
		b.Run(string(effect), func(b *testing.B) {
			c := bench(b, effect)
			took := make([]time.Duration, 0, 1<<16)
			spent := spending()
			for b.Loop() {
				began := time.Now()
				invoke(b, c)
				took = append(took, time.Since(began))
			}
			spent(b, len(took))
			report(b, took)
		})
	}
	// The goal is 5,000 a second with a p99 of at most 20 ms. A call's time counts from when it was
	// due, not from when it could start.
	b.Run("read/5000 a second", func(b *testing.B) {
		c := bench(b, protocol.EffectRead)
		spent := spending()
		b.ResetTimer()
		took := paced(b.N, func() { invoke(b, c) })
		spent(b, b.N)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		report(b, took)
	})
	// Many callers, each with its next call as soon as it can.
	b.Run("read/64 at once", func(b *testing.B) {
		c := bench(b, protocol.EffectRead)
		took := make([]time.Duration, b.N)
		var next atomic.Int64
		var wg sync.WaitGroup
		spent := spending()
		b.ResetTimer()
		for range 64 {
			wg.Go(func() {
				for i := next.Add(1); int(i) <= b.N; i = next.Add(1) {
					began := time.Now()
					invoke(b, c)
					took[i-1] = time.Since(began)
				}
			})
		}
		wg.Wait()
		spent(b, b.N)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		report(b, took)
	})
}

// BenchmarkInvokeBare is [BenchmarkInvoke] of a read-only tool between ends as simple as those of
// gateway/surface/rpc's echo: each is one goroutine that reads a message and writes the next one.
// The difference from the echo is the cost of the gateway, and of the node's call IDs.
func BenchmarkInvokeBare(b *testing.B) {
	url := benchGateway(b)
	dial := func(p protocol.ConnectParams) *websocket.Conn {
		ws, _, err := websocket.DefaultDialer.Dial(url, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ws.Close() })
		p.Auth = &protocol.Auth{Token: "fl_bench"}
		request(b, ws, "connect", protocol.Connect.Name, p)
		return ws
	}
	node := dial(benchNode("n", protocol.EffectRead))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer node.Close()
	wg.Go(func() {
		for i := 0; ; {
			_, data, err := node.ReadMessage()
			if err != nil {
				return
			}
			frame, err := protocol.DecodeFrame(data)
			if err != nil || frame.Event == nil || frame.Event.Event != protocol.EventToolInvoke {
				continue // a response to the node
			}
			var inv protocol.ToolInvoke
			if protocol.Unmarshal(frame.Event.Payload, &inv) != nil {
				continue
			}
			i++
			raw, err := protocol.EncodeRequest(strconv.Itoa(i), protocol.ReturnResult.Name, protocol.ToolResultParams{CallID: inv.CallID, Result: inv.Args})
			if err != nil || node.WriteMessage(websocket.TextMessage, raw) != nil {
				return
			}
		}
	})
	ws := dial(gateway.ClientParams("c"))
	params := protocol.ToolInvokeParams{Tool: "n__Echo", Args: json.RawMessage(`{"i":1}`)}
	took := make([]time.Duration, 0, 1<<16)
	spent := spending()
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		request(b, ws, strconv.Itoa(i), protocol.InvokeTool.Name, params)
		took = append(took, time.Since(began))
	}
	spent(b, len(took))
	report(b, took)
}

// request makes a request and waits for its answer.
func request(b *testing.B, ws *websocket.Conn, id, method string, params any) {
	raw, err := protocol.EncodeRequest(id, method, params)
	if err == nil {
		err = ws.WriteMessage(websocket.TextMessage, raw)
	}
	for err == nil {
		var data []byte
		if _, data, err = ws.ReadMessage(); err != nil {
			break
		}
		frame, wrong := protocol.DecodeFrame(data)
		if err = wrong; err == nil && frame.Response != nil && frame.Response.ID == id {
			if !frame.Response.OK {
				b.Fatal(frame.Response.Error)
			}
			return
		}
	}
	b.Fatal(err)
}

// spending measures values that do not depend on other programs: processor time, and the number of
// times that a thread waited, per call, for gateway, client and node together.
func spending() func(b *testing.B, calls int) {
	var before syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	return func(b *testing.B, calls int) {
		var after syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &after)
		used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
		b.ReportMetric(float64(used.Nanoseconds())/1e3/float64(calls), "cpu-µs/call")
		b.ReportMetric(float64(after.Nvcsw-before.Nvcsw)/float64(calls), "waits/call")
	}
}

// paced calls f n times, 5,000 times a second, and returns how long each took from when it was due.
func paced(n int, f func()) []time.Duration {
	const every = time.Second / 5000
	took := make([]time.Duration, n)
	var wg sync.WaitGroup
	began := time.Now()
	for i := 0; i < n; {
		for ; i < n && time.Since(began) >= time.Duration(i)*every; i++ {
			k, due := i, began.Add(time.Duration(i)*every)
			wg.Go(func() {
				f()
				took[k] = time.Since(due)
			})
		}
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	return took
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func invoke(b *testing.B, c *client.Client) {
	if err := echo(b.Context(), c); err != nil {
		b.Error(err)
	}
}

func echo(ctx context.Context, c *client.Client) error {
	_, err := client.Call(ctx, c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "n__Echo", Args: json.RawMessage(`{"i":1}`)})
	return err
}

// bench starts a gateway and a node over TCP and returns a client.
func bench(b *testing.B, effect protocol.Effect) *client.Client {
	c, stop := connectNodeAndClient(benchGateway(b), effect)
	b.Cleanup(stop)
	invoke(b, c)
	return c
}

// benchGateway starts a gateway and returns its address.
func benchGateway(b *testing.B) string {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	b.Setenv("FAIRLEAD_SECRETS", "file")
	b.Setenv("FAIRLEAD_TOKEN", "fl_bench")
	g, _ := gatewaytest.Start(b, b.TempDir(), "127.0.0.1:0")
	return g.URL()
}

// connectNodeAndClient connects a node and a client, and returns the client.
func connectNodeAndClient(url string, effect protocol.Effect) (c *client.Client, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	up := make(chan struct{}, 2)
	start := func(o client.Options) *client.Client {
		o.URL, o.Token = url, "fl_bench"
		o.OnUp = func(context.Context, protocol.ConnectResult) { up <- struct{}{} }
		c := client.New(o)
		wg.Go(func() { c.Run(ctx) })
		<-up
		return c
	}
	var node *client.Client
	ready := make(chan struct{})
	node = start(client.Options{
		Connect: func() protocol.ConnectParams { return benchNode("n", effect) },
		OnEvent: func(e protocol.EventFrame) {
			if e.Event != protocol.EventToolInvoke {
				return
			}
			wg.Go(func() {
				<-ready
				var inv protocol.ToolInvoke
				if protocol.Unmarshal(e.Payload, &inv) == nil {
					client.Call(ctx, node, protocol.ReturnResult, protocol.ToolResultParams{CallID: inv.CallID, Result: inv.Args})
				}
			})
		},
	})
	close(ready)
	c = start(client.Options{Connect: func() protocol.ConnectParams { return gateway.ClientParams("c") }})
	return c, func() {
		cancel()
		wg.Wait()
	}
}

func benchNode(id string, effect protocol.Effect) protocol.ConnectParams {
	p := gateway.ClientParams(id)
	p.Client.Mode = protocol.ModeNode
	p.Extensions = []string{protocol.ExtCancel}
	p.Tools = []protocol.ToolSpec{{Name: "Echo", Description: "Echoes", Effect: effect, InputSchema: json.RawMessage(`{"type":"object","properties":{"i":{"type":"number"}}}`)}}
	p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapExec}, ToolCapabilities: map[string][]string{"Echo": {protocol.CapExec}}}
	return p
}
