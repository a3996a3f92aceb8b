//go:build unix

package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// openEndlessSearch is a gateway with a node whose searches send one match and end only when they
// are cancelled. It sends on cancelled for each of those.
func openEndlessSearch(t *testing.T) (p *programs, cancelled chan struct{}) {
	t.Helper()
	h := newAccessGateway(t)
	cancelled = make(chan struct{}, 10)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	events := make(chan protocol.EventFrame, 10)
	node := client.New(client.Options{
		URL: "ws://memory/ws", Dial: h.gw.Dial, OnEvent: func(e protocol.EventFrame) { events <- e },
		Connect: func() protocol.ConnectParams {
			c := gateway.ClientParams("box")
			c.Client.Mode, c.Extensions = protocol.ModeNode, []string{protocol.ExtCancel}
			c.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapSearch}, ToolCapabilities: map[string][]string{}}
			for _, name := range []string{"fs_grep", "fs_glob"} {
				c.Tools = append(c.Tools, protocol.ToolSpec{Name: name, Effect: protocol.EffectRead, InputSchema: json.RawMessage(`{"type":"object"}`)})
				c.NodeRuntime.ToolCapabilities[name] = []string{protocol.CapSearch}
			}
			return c
		},
	})
	running.Go(func() { node.Run(ctx) })
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-events:
				var call protocol.ToolInvoke
				protocol.Unmarshal(e.Payload, &call)
				switch e.Event {
				case protocol.EventToolInvoke:
					client.Call(ctx, node, protocol.ReportProgress, protocol.ToolProgress{CallID: call.CallID, Chunk: json.RawMessage(`{"matches":["first"]}`)})
				case protocol.EventToolCancel:
					cancelled <- struct{}{}
					client.Call(ctx, node, protocol.ReturnResult, protocol.ToolResultParams{CallID: call.CallID, Error: "The call was cancelled."})
				}
			}
		}
	})
	h.until("the node is online", func() bool { return h.info("box").Online })
	return &programs{h, strings.TrimSuffix(strings.Replace(h.gw.URL(), "ws:", "http:", 1), "/ws"), ""}, cancelled
}

const searchArgs = `{"target":{"node_id":"box"},"path":"/x","pattern":"y"}`

func TestFirstPartArrivesOverRESTWhileTheSearchRuns(t *testing.T) {
	p, cancelled := openEndlessSearch(t)
	for _, tool := range []string{"fs_grep", "fs_glob"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/api/v1/tools/"+tool, strings.NewReader(searchArgs))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer gateway-token-of-the-test")
		r.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		in := bufio.NewReader(resp.Body)
		event, _ := in.ReadString('\n')
		data, err := in.ReadString('\n')
		if err != nil || event != "event: chunk\n" || data != "data: {\"matches\":[\"first\"]}\n" {
			t.Fatalf("%s: got %q %q, %v, want the first part", tool, event, data, err)
		}
		cancel()
		resp.Body.Close()
		<-cancelled
	}
}

func TestFirstPartArrivesOverMCPWhileTheSearchRuns(t *testing.T) {
	p, cancelled := openEndlessSearch(t)
	for _, legacy := range []bool{false, true} {
		parts := make(chan string, 10)
		s := p.connect("gateway-token-of-the-test", &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			parts <- r.Params.Message
		}}, legacy)
		for _, tool := range []string{"fs_grep", "fs_glob"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			params := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(searchArgs)}
			params.SetProgressToken(tool)
			ended := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, params)
				ended <- err
			}()
			select {
			case part := <-parts:
				if part != `{"matches":["first"]}` {
					t.Errorf("%s: got the part %s, want the first match", tool, part)
				}
			case err := <-ended:
				t.Fatalf("%s: got the end of the call, %v, want a part before it", tool, err)
			}
			cancel()
			<-cancelled
		}
	}
}
