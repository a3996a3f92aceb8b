//go:build unix

package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// BenchmarkStat measures fs_stat of a real node over MCP, of both kinds, and over REST, beside the
// same by WebSocket. Their calls take turns, so that other load changes no ratio. The goal is that
// none takes more than twice the time of the WebSocket at the median.
func BenchmarkStat(b *testing.B) {
	url, base, folder := benchPrograms(b)
	c, stop := benchClient(b, url)
	defer stop()
	args := map[string]any{"target": map[string]any{"node_id": "box"}, "path": filepath.Join(folder, "notes.txt")}
	raw, err := protocol.Marshal(args)
	if err != nil {
		b.Fatal(err)
	}
	ways := []struct {
		name string
		call func() error
	}{
		{"websocket", func() error {
			_, err := client.Call(b.Context(), c, protocol.CatalogCall, protocol.CatalogCallParams{Tool: "fs_stat", Args: raw})
			return err
		}},
		{"rest", func() error { post(b, base+"/api/v1/tools/fs_stat", raw); return nil }},
		{"mcp", overMCP(b, base, false, args)},
		{"mcp-legacy", overMCP(b, base, true, args)},
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			began := time.Now()
			if err := way.call(); err != nil {
				b.Fatalf("%s: %v", way.name, err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i, way := range ways {
		slices.Sort(took[i])
		median := took[i][len(took[i])/2]
		b.ReportMetric(float64(median.Microseconds()), way.name+"-p50-µs")
		if i > 0 {
			b.ReportMetric(float64(median)/float64(took[0][len(took[0])/2]), way.name+"-ratio")
		}
	}
}

// benchPrograms starts a gateway with a node named box, and returns its addresses for WebSocket and
// HTTP, and the folder of the node.
func benchPrograms(b *testing.B) (url, base, folder string) {
	url = benchGateway(b)
	folder = b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("buy milk"), 0o600); err != nil {
		b.Fatal(err)
	}
	n, err := node.New(node.Options{ID: "box", Workspace: folder, Home: b.TempDir(), URL: url, Token: "fl_bench", Version: "test"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { n.Run(ctx) })
	b.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return url, strings.TrimSuffix(strings.Replace(url, "ws:", "http:", 1), "/ws"), folder
}

func benchClient(b *testing.B, url string) (c *client.Client, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	up := make(chan struct{}, 10)
	c = client.New(client.Options{
		URL: url, Token: "fl_bench", Connect: func() protocol.ConnectParams { return gateway.ClientParams("c") },
		OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
	})
	wg.Go(func() { c.Run(ctx) })
	<-up
	for {
		r, err := client.Call(ctx, c, protocol.NodesList, protocol.Empty{})
		if err != nil {
			b.Fatal(err)
		}
		if slices.ContainsFunc(r.Nodes, func(n protocol.NodeInfo) bool { return n.ID == "box" && n.Online }) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return c, func() {
		cancel()
		wg.Wait()
	}
}

// BenchmarkReadFile reads a file of 1 GiB of a real node over REST, in parts of 1 MiB. It does not
// decode the parts, which costs more than everything before. The goal is 100 MB/s.
func BenchmarkReadFile(b *testing.B) {
	url, base, folder := benchPrograms(b)
	_, stop := benchClient(b, url)
	defer stop()
	path := filepath.Join(folder, "big")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	const size, part = 1 << 30, 1 << 20
	block := bytes.Repeat([]byte("0123456789abcdef"), part/16)
	for range size / part {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		body := fmt.Sprintf(`{"target":{"node_id":"box"},"path":%q,"max_bytes":%d}`, path, part)
		for parts := 1; ; parts++ {
			raw := post(b, base+"/api/v1/tools/fs_read", []byte(body))
			if bytes.Contains(raw, []byte(`"done":true`)) {
				if parts != size/part {
					b.Fatalf("the file has %d parts, want %d", parts, size/part)
				}
				break
			}
			_, rest, _ := bytes.Cut(raw, []byte(`"file_id":"`))
			id, _, _ := bytes.Cut(rest, []byte(`"`))
			body = fmt.Sprintf(`{"file_id":%q,"max_bytes":%d}`, id, part)
		}
	}
}

// post calls a tool over REST and returns the answer.
func post(b *testing.B, url string, body []byte) []byte {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer fl_bench")
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var raw bytes.Buffer
	raw.Grow(int(max(resp.ContentLength, 0)) + bytes.MinRead)
	if _, err = raw.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("got %d %.200s, %v; want no error and StatusCode StatusOK", resp.StatusCode, raw.Bytes(), err)
	}
	return raw.Bytes()
}

// overMCP returns a call of fs_stat by a client of MCP that sends the least that the protocol asks
// for, like those of the other ways.
func overMCP(b *testing.B, base string, legacy bool, args map[string]any) func() error {
	meta := map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	params := map[string]any{"name": "fs_stat", "arguments": args, "_meta": meta}
	headers := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "fs_stat"}
	if legacy {
		delete(params, "_meta")
		headers = map[string]string{"MCP-Protocol-Version": "2025-11-25"}
	}
	send := func(body any) (*http.Response, []byte) {
		raw, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, base+"/mcp", bytes.NewReader(raw))
		if err != nil {
			b.Fatal(err)
		}
		for k, v := range headers {
			r.Header.Set(k, v)
		}
		r.Header.Set("Authorization", "Bearer fl_bench")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if raw, err = io.ReadAll(resp.Body); err != nil || resp.StatusCode/100 != 2 {
			b.Fatalf("got %d %s %v; want no error and StatusCode / 100 2", resp.StatusCode, raw, err)
		}
		return resp, raw
	}
	if legacy {
		resp, _ := send(json.RawMessage(openSession))
		headers["Mcp-Session-Id"] = resp.Header.Get("Mcp-Session-Id")
		send(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	}
	return func() error {
		_, raw := send(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
		if !bytes.Contains(raw, []byte("notes.txt")) || bytes.Contains(raw, []byte(`"isError":true`)) {
			return fmt.Errorf("got %s", raw)
		}
		return nil
	}
}

// BenchmarkChatBesideMCP measures a chat turn of the built-in operator with no client of MCP and
// with 200 that are subscribed to everything, each
// with a token of its own. The goal is that they do not slow it down.
func BenchmarkChatBesideMCP(b *testing.B) {
	url, base, _ := benchPrograms(b)
	c, stop := benchClient(b, url)
	defer stop()
	turn := chatTurns(b, c)
	turn()
	alone := measure(b, turn)
	for i := range 200 {
		made, err := client.Call(b.Context(), c, protocol.TokenCreate, protocol.TokenCreateParams{Name: fmt.Sprint("Idle ", i), Scopes: protocol.AppScopes})
		if err != nil {
			b.Fatal(err)
		}
		connectIdle(b, base, made.Token, i%2 == 0)
	}
	turn()
	beside := measure(b, turn)
	b.ReportMetric(float64(alone.Microseconds()), "alone-p50-µs")
	b.ReportMetric(float64(beside.Microseconds()), "beside-200-p50-µs")
	b.ReportMetric(float64(beside)/float64(alone), "ratio")
}

// chatTurns returns a turn of a new chat, in which the operator reads a file on the node.
func chatTurns(b *testing.B, c *client.Client) (turn func()) {
	ended := make(chan protocol.RunInfo, 100)
	ctx, cancel := context.WithCancel(context.Background())
	var feeding sync.WaitGroup
	ready := make(chan struct{})
	feeding.Go(func() {
		c.Feed(ctx, func(protocol.FeedSnapshot) { close(ready) }, func(change protocol.Change) {
			if r := change.Run; r != nil && r.Over() {
				ended <- *r
			}
		})
	})
	b.Cleanup(func() {
		cancel()
		feeding.Wait()
	})
	<-ready
	n := 0
	return func() {
		n++
		key := protocol.SessionKey(fmt.Sprint("agent:main:app:chat:bench", n))
		sent, err := client.Call(b.Context(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: "read notes.txt on box"})
		if err != nil {
			b.Fatal(err)
		}
		for r := range ended {
			if r.RunID != sent.RunID {
				continue
			}
			if r.State != protocol.RunDone {
				b.Fatalf("the turn ended with %+v, want it done", r)
			}
			return
		}
	}
}

// measure returns the median time of a function.
func measure(b *testing.B, f func()) time.Duration {
	took := make([]time.Duration, 50)
	for i := range took {
		began := time.Now()
		f()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// connectIdle connects a client that is subscribed to all resources and does nothing.
func connectIdle(b *testing.B, base, token string, legacy bool) {
	o := &sdk.ClientSessionOptions{}
	if legacy {
		o.ProtocolVersion = "2025-11-25"
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "idle", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(context.Context, *sdk.ResourceUpdatedNotificationRequest) {},
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {},
	}).Connect(b.Context(), &sdk.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: &http.Client{Transport: withToken(token)}}, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for _, uri := range []string{"fairlead://machines", "fairlead://journal", "fairlead://transfers"} {
		if err := s.Subscribe(b.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			b.Fatal(err)
		}
	}
}
