package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// exposures returns the ways in of a kind by their titles.
func (h *accessGateway) exposures(kind string) map[string]protocol.Exposure {
	h.t.Helper()
	all := make(map[string]protocol.Exposure)
	for _, e := range ask(h, protocol.ExposureList, protocol.Empty{}).Exposures {
		if e.Kind == kind {
			all[e.Title] = e
		}
	}
	return all
}

// call makes a call that an exposure names.
func (h *accessGateway) call(c protocol.MethodCall) {
	h.t.Helper()
	ask(h, protocol.Method[json.RawMessage, json.RawMessage]{Name: c.Method}, c.Params)
}

// TestEveryWayInIsListedAndClosed opens one way in of each kind that this process can open.
func TestEveryWayInIsListedAndClosed(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the app") }))
	t.Cleanup(app.Close)
	publishes := f.tool("service_publish", fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q,"title":"Wiki","auth_required":false}`, app.URL))
	f.decide(protocol.DecisionAllow)
	if r := publishes(); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	const name = "Anna's laptop"
	ask(f.accessGateway, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: "laptop", Name: new(name)})
	open := f.forward(strings.TrimPrefix(app.URL, "http://"))
	info := <-open.info
	ask(f.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "Backup", Scopes: []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeShell}, Nodes: []protocol.NodeID{"laptop"}})
	ask(f.accessGateway, protocol.RulePut, protocol.RulePutParams{Policy: []byte(`{"tool":"Bash","argv":["make"],"verdict":"allow"}`)})
	ask(f.accessGateway, protocol.RulePut, protocol.RulePutParams{Policy: []byte(`{"tool":"Bash","argv":["rm"],"verdict":"deny"}`)})

	url := ask(f.accessGateway, protocol.ServicesList, protocol.Empty{}).Services[0].URL
	noExpiry, none := []string{protocol.WarnNoExpiry}, []string{}
	for _, want := range []struct {
		kind, title, reach string
		warnings           []string
		closed             bool // it can be closed
	}{
		{protocol.ExposureListener, strings.TrimSuffix(strings.TrimPrefix(f.gw.URL(), "ws://"), "/ws"), "Programs on this computer", none, false},
		{protocol.ExposureService, "Wiki", "Everyone who reaches the address, without a sign-in. " + url + " leads to " + app.URL + "/ on " + name + ".", []string{protocol.WarnPublic}, true},
		{protocol.ExposureForward, info.Listen + " leads to " + info.Target + " on " + name, "Programs on this computer reach " + info.Target + " on " + name, none, true},
		{protocol.ExposureToken, "The gateway's own token", "everything that you may", none, false},
		{protocol.ExposureToken, "Backup", "May read files and run commands on " + name + ".", noExpiry, true},
		{protocol.ExposureDevice, name, "Runs calls as the machine " + name, noExpiry, true},
		{protocol.ExposureGrant, "Allow make", "without a question", noExpiry, true},
	} {
		e, ok := f.exposures(want.kind)[want.title]
		if !ok || !strings.Contains(e.Reach, want.reach) || !slices.Equal(e.Warnings, want.warnings) || (e.Close != nil) != want.closed {
			t.Errorf("%s %q: got %+v; want that it reaches %q, with the warnings %v, and that it can be closed: %v", want.kind, want.title, e, want.reach, want.warnings, want.closed)
		}
		if !want.closed || e.Close == nil {
			continue
		}
		f.call(e.Close.Call)
		f.until("it is closed: "+want.title, func() bool { _, left := f.exposures(want.kind)[want.title]; return !left })
		if e.Close.Undo != nil {
			f.call(*e.Close.Undo)
			if now, ok := f.exposures(want.kind)[want.title]; !ok || now.ID != e.ID {
				t.Errorf("%s %q after it was opened again: got %+v, want the same", want.kind, want.title, now)
			}
		}
	}
	if status, text := get(t, f.visit(), url); status != http.StatusNotFound {
		t.Errorf("the closed app: got %d %s, want 404", status, text)
	}
	if n := len(f.exposures(protocol.ExposureGrant)); n != 1 {
		t.Errorf("got %d grants, want 1: the rule that was restored, and not the one that denies", n)
	}
	for title, e := range f.exposures(protocol.ExposureListener) {
		if e.Close != nil {
			f.call(e.Close.Call)
			f.until("the network is off", func() bool { return !f.list().Network.Listening })
		} else if e.LastUsedAt == 0 {
			t.Errorf("%s: got no last use, want that of the forward", title)
		}
	}
	if left := f.exposures(protocol.ExposureListener); len(left) != 1 {
		t.Errorf("got the listeners %v, want the gateway's own one", left)
	}
}
