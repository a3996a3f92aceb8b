package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/surfacetest"
)

// watcher is a client that is subscribed to resources.
type watcher struct {
	*sdk.ClientSession
	updated chan string
	listed  chan struct{}
}

func watch(t *testing.T, b *bench, token string, legacy bool, uris ...string) *watcher {
	t.Helper()
	w := &watcher{updated: make(chan string, 100), listed: make(chan struct{}, 100)}
	w.ClientSession = b.connect(t, token, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { w.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { w.listed <- struct{}{} },
	}, legacy)
	if !legacy {
		w.listen(t, b, token, uris)
		return w
	}
	for _, uri := range uris {
		if err := w.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatalf("subscribe to %s: %v", uri, err)
		}
	}
	return w
}

// listen opens a stream of notifications as a client of the newest protocol version does. It
// returns when the server has acknowledged it; the SDK's client does not wait for that.
func (w *watcher) listen(t *testing.T, b *bench, token string, uris []string) {
	t.Helper()
	raw, _ := json.Marshal(uris)
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":` + string(raw) + `},` + modernMeta + `}}`
	resp := listenWith(t.Context(), t, b, token, body)
	acknowledged := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var n struct {
				Method string
				Params struct{ URI string }
			}
			if !ok || json.Unmarshal([]byte(data), &n) != nil {
				continue
			}
			switch n.Method {
			case "notifications/subscriptions/acknowledged":
				close(acknowledged)
			case "notifications/resources/updated":
				w.updated <- n.Params.URI
			case "notifications/resources/list_changed":
				w.listed <- struct{}{}
			}
		}
	})
	t.Cleanup(func() {
		resp.Body.Close()
		reading.Wait()
	})
	select {
	case <-acknowledged:
	case <-time.After(3 * time.Minute):
		t.Fatal("the server does not acknowledge the subscription")
	}
}

// listenWith posts a request to listen.
func listenWith(ctx context.Context, t *testing.T, b *bench, token, body string) *http.Response {
	t.Helper()
	return surfacetest.Request(ctx, t, http.MethodPost, b.URL+"/mcp", body,
		"Accept", "application/json, text/event-stream", "Content-Type", "application/json", "Authorization", "Bearer "+token,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
}

func (w *watcher) next(t *testing.T) string {
	t.Helper()
	select {
	case uri := <-w.updated:
		return uri
	case <-time.After(3 * time.Minute):
		t.Fatal("no notification")
		return ""
	}
}

func call(id string, state string) protocol.Change {
	return protocol.Change{Kind: protocol.ChangeCall, Call: &protocol.CallInfo{CallID: protocol.CallID(id), State: state}}
}

func node(id protocol.NodeID, online bool, ping float64) protocol.Change {
	return protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: id, Online: online, PingMs: ping}}
}

func TestSubscribersAreNotifiedOfChanges(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		w := watch(t, b, "all", legacy, "fairlead://journal", "fairlead://machines", "fairlead://machines/nas")
		b.bus.Publish(call("a", protocol.CallDone))
		if got := w.next(t); got != "fairlead://journal" {
			t.Errorf("a call: got a change of %s, want fairlead://journal", got)
		}
		b.bus.Publish(node("nas", true, 1))
		got := []string{w.next(t), w.next(t)}
		if slices.Sort(got); !slices.Equal(got, []string{"fairlead://machines", "fairlead://machines/nas"}) {
			t.Errorf("a machine: got changes of %v, want it and the list", got)
		}
		b.bus.Publish(node("nas", true, 2)) // only its ping
		b.bus.Publish(protocol.Change{Kind: protocol.ChangeResync})
		got = []string{w.next(t), w.next(t), w.next(t)}
		if slices.Sort(got); !slices.Equal(got, []string{"fairlead://journal", "fairlead://machines", "fairlead://machines/nas"}) {
			t.Errorf("a resync: got changes of %v, want all three", got)
		}
	})
}

func TestBurstIsFewNotifications(t *testing.T) {
	b := serve(t)
	w := watch(t, b, "all", true, "fairlead://journal")
	began := time.Now()
	for range 500 {
		b.bus.Publish(call("a", protocol.CallRunning))
		b.bus.Publish(call("b", protocol.CallDone))
	}
	w.next(t)
	time.Sleep(settle + settle/2) // what else there is arrives in this time
	most := 2 + int(time.Since(began)/settle)
	if n := 1 + len(w.updated); n > most {
		t.Errorf("1000 changes are %d notifications, want at most %d", n, most)
	}
}

func TestMachinesThatComeAndGoChangeTheList(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		w := watch(t, b, "all", legacy, "fairlead://machines")
		b.machines.set(protocol.NodeInfo{ID: "nas"}, protocol.NodeInfo{ID: "laptop", Name: "Laptop"})
		b.bus.Publish(node("laptop", true, 0))
		await := func(want ...string) {
			t.Helper()
			select {
			case <-w.listed:
			case <-time.After(3 * time.Minute):
				t.Fatal("got no notification in time, want one")
			}
			list, err := w.ListResources(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var uris []string
			for _, r := range list.Resources {
				uris = append(uris, r.URI)
			}
			if !slices.Equal(uris, want) {
				t.Errorf("the list is %v, want %v", uris, want)
			}
		}
		await("fairlead://journal", "fairlead://machines", "fairlead://machines/laptop", "fairlead://machines/nas", "fairlead://transfers")
		for len(w.listed) > 0 {
			<-w.listed
		}
		b.machines.set(protocol.NodeInfo{ID: "laptop", Name: "Laptop"})
		b.bus.Publish(protocol.Change{Kind: protocol.ChangeNodeForgotten, Node: &protocol.NodeInfo{ID: "nas"}})
		await("fairlead://journal", "fairlead://machines", "fairlead://machines/laptop", "fairlead://transfers")
	})
}

func TestOnlyReadableFilesCanBeWatched(t *testing.T) {
	b := serve(t)
	legacy := b.connect(t, "reader", nil, true)
	for uri, ok := range map[string]bool{
		"fairlead://machines": true, "fairlead://machines/nas": true, "fairlead://journal": false, "https://example.com": false,
	} {
		if err := legacy.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); (err == nil) != ok {
			t.Errorf("subscribe to %s: %v", uri, err)
		}
	}
	// A modern client is told which of its wishes are granted.
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["fairlead://journal","fairlead://x"]},` + modernMeta + `}}`
	resp, body := post(t, b, "reader", "", listen, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	if resp.StatusCode != 200 {
		t.Fatalf("got status %d, %s, want 200", resp.StatusCode, body)
	}
	if !strings.Contains(body, `"method":"notifications/subscriptions/acknowledged"`) || !strings.Contains(body, `"notifications":{}`) {
		t.Errorf("got %s, want it acknowledged without notifications", body)
	}
}

// modernMeta is what every request of the newest protocol version carries.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
