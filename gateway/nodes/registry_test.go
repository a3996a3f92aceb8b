package nodes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

func ptr[T any](v T) *T { return &v }

func TestForgettingALiveMachineNeedsForce(t *testing.T) {
	saved := memory{nodes: make(map[protocol.NodeID]protocol.NodeInfo)}
	h := New(nil, saved)
	link, detach := attach(t, h, "n", "x")
	if _, err := h.Forget(t.Context(), protocol.NodeForgetParams{NodeID: "n"}); !errors.Is(err, protocol.ErrConflict) || !strings.Contains(err.Error(), "force=true") {
		t.Errorf("without force: got error %v, want a conflict that names force=true", err)
	}
	got, err := h.Forget(t.Context(), protocol.NodeForgetParams{NodeID: "n", Force: true})
	if err != nil || got != (protocol.NodeForgetResult{OK: true, NodeID: "n", Removed: true, Disconnected: true}) {
		t.Errorf("with force: got %+v, error %v; want the node removed and disconnected", got, err)
	}
	if link.closed != "Forgotten from node registry" {
		t.Errorf(`closed with %q, want "Forgotten from node registry"`, link.closed)
	}
	detach() // the late close of a forgotten node must not bring it back
	if len(h.Nodes()) != 0 || len(saved.nodes) != 0 {
		t.Errorf("after the removal: got %+v, saved %+v; want no nodes", h.Nodes(), saved.nodes)
	}
	if got, err := h.Forget(t.Context(), protocol.NodeForgetParams{NodeID: "n"}); err != nil || got.Removed || got.Disconnected {
		t.Errorf("forgetting it again: got %+v, error %v; want nothing removed", got, err)
	}
}

// fullDisk stores nothing.
type fullDisk struct{ memory }

func (fullDisk) Put(context.Context, protocol.NodeInfo, ...protocol.AuditEntry) error {
	return protocol.ErrStorage
}

func (fullDisk) Delete(context.Context, protocol.NodeID) (bool, error) {
	return false, protocol.ErrStorage
}

func TestChangesOfAMachineThatCannotBeStoredAreRefused(t *testing.T) {
	h := New(nil, fullDisk{memory{nodes: make(map[protocol.NodeID]protocol.NodeInfo)}})
	link, _ := attach(t, h, "n", "x")
	before, _ := h.Node("n")
	if _, err := h.Forget(t.Context(), protocol.NodeForgetParams{NodeID: "n", Force: true}); !errors.Is(err, protocol.ErrStorage) {
		t.Errorf("forget: got %v, want a storage error", err)
	}
	if _, err := h.Update(t.Context(), protocol.NodesUpdateParams{NodeID: "n", Name: ptr("new")}); !errors.Is(err, protocol.ErrStorage) {
		t.Errorf("update: got %v, want a storage error", err)
	}
	if now, ok := h.Node("n"); !ok || now.Name != before.Name || link.closed != "" {
		t.Errorf("afterwards: got %q, known %v, closed %q; want ok, now.Name %v and an empty link.closed", now.Name, ok, link.closed, before.Name)
	}
}

func TestTheGatewaysOwnNodeIsNotForgotten(t *testing.T) {
	h := New(nil, nil)
	if _, err := h.Attach(t.Context(), params("n", "x"), Entry{Local: true}, newLink()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Forget(t.Context(), protocol.NodeForgetParams{NodeID: "n", Force: true}); !errors.Is(err, protocol.ErrConflict) || len(h.Nodes()) != 1 {
		t.Errorf("got %v; want error ErrConflict and Nodes of length 1", err)
	}
}

func TestANodeKeepsTheNameOfItsPairingUntilARename(t *testing.T) {
	h := New(nil, nil)
	connect := func() string {
		t.Helper()
		if _, err := h.Attach(t.Context(), params("n", "x"), Entry{Name: "Anna's tower"}, newLink()); err != nil {
			t.Fatal(err)
		}
		n, _ := h.Node("n")
		return n.Name
	}
	if got := connect(); got != "Anna's tower" {
		t.Errorf(`paired as Anna's tower, it is called %q, want "Anna's tower"`, got)
	}
	if _, err := h.Update(t.Context(), protocol.NodesUpdateParams{NodeID: "n", Name: ptr("attic")}); err != nil {
		t.Fatal(err)
	}
	if got := connect(); got != "attic" {
		t.Errorf(`renamed to attic, it is called %q, want "attic"`, got)
	}
}

func TestNameAndColourOutliveReconnectAndRestart(t *testing.T) {
	saved := memory{nodes: make(map[protocol.NodeID]protocol.NodeInfo)}
	h := New(nil, saved)
	attach(t, h, "n", "x")
	if _, err := h.Update(t.Context(), protocol.NodesUpdateParams{NodeID: "n", Name: ptr(" Anna's tower "), Colour: ptr("teal")}); err != nil {
		t.Fatal(err)
	}
	attach(t, h, "n", "x")
	again := New(nil, saved)
	if err := again.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*Hub{h, again} {
		if n, _ := h.Node("n"); n.Name != "Anna's tower" || n.Colour != "teal" {
			t.Errorf(`got %+v; want Name "Anna's tower" and Colour "teal"`, n)
		}
	}
	for _, c := range []struct {
		p    protocol.NodesUpdateParams
		want error
	}{
		{protocol.NodesUpdateParams{}, protocol.ErrBadRequest},
		{protocol.NodesUpdateParams{NodeID: "x", Name: ptr("a")}, protocol.ErrNotFound},
		{protocol.NodesUpdateParams{NodeID: "n", Colour: ptr("mauve")}, protocol.ErrBadRequest},
		{protocol.NodesUpdateParams{NodeID: "n", Name: ptr("a\nb")}, protocol.ErrBadRequest},
		{protocol.NodesUpdateParams{NodeID: "n", Name: ptr(strings.Repeat("é", 61))}, protocol.ErrBadRequest},
	} {
		if _, err := h.Update(t.Context(), c.p); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v; want error %v", c.p, err, c.want)
		}
	}
}

func TestPingIsPublishedWhenItChanges(t *testing.T) {
	bus := new(event.Bus)
	h := New(bus, nil)
	old, _ := attach(t, h, "n", "x")
	link, _ := attach(t, h, "n", "x")
	sub := bus.Subscribe()
	defer sub.Close()
	h.Pinged("n", old, time.Second) // of a replaced connection
	h.Pinged("n", link, 12340*time.Microsecond)
	h.Pinged("n", link, 12400*time.Microsecond)
	h.Pinged("n", link, 40*time.Millisecond)
	for _, want := range []float64{12.34, 40} {
		c, err := sub.Next(t.Context())
		if err != nil || c.Node.PingMs != want || c.Node.PingAt == 0 {
			t.Errorf("%+v, %v; want %v", c.Node, err, want)
		}
	}
}

func TestHeldToolsAreNotOffered(t *testing.T) {
	h := New(nil, nil)
	if _, err := h.Attach(t.Context(), params("n", "x"), Entry{Device: "d", Unapproved: []string{"Bash"}}, newLink()); err != nil {
		t.Fatal(err)
	}
	if list := h.Tools(); len(list) != 1 || list[0].Name != "n__Read" {
		t.Errorf(`tools = %+v; want length 1 and list[0].Name "n__Read"`, list)
	}
	if _, _, err := h.Lookup("n__Bash"); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("Lookup = %v, want error ErrForbidden", err)
	}
	h.Release("n")
	if _, _, err := h.Lookup("n__Bash"); err != nil || len(h.Tools()) != 2 {
		t.Errorf("after the yes: %v; want no error", err)
	}
}

func TestOnlineMachinesReportProgramsAndVariables(t *testing.T) {
	h := New(new(event.Bus), nil)
	p := params("box")
	p.Programs, p.Environment = []string{"git", "jq"}, []string{"GH_TOKEN", "PATH"}
	detach, err := h.Attach(t.Context(), p, Entry{}, newLink())
	if err != nil {
		t.Fatal(err)
	}
	attach(t, h, "silent")
	for what, got := range map[string]func(protocol.NodeID, string) (bool, bool){"jq": h.HasProgram, "GH_TOKEN": h.HasVariable} {
		t.Run(what, func(t *testing.T) {
			for _, c := range []struct {
				id         protocol.NodeID
				name       string
				has, known bool
			}{{"box", what, true, true}, {"box", "TOKEN", false, true}, {"box", what[1:], false, true}, {"silent", what, false, false}, {"nobody", what, false, false}} {
				if has, known := got(c.id, c.name); has != c.has || known != c.known {
					t.Errorf("%s has %s: got %v, known %v; want %v, known %v", c.id, c.name, has, known, c.has, c.known)
				}
			}
		})
	}
	detach()
	if _, known := h.HasVariable("box", "PATH"); known {
		t.Error("a machine that is gone is asked")
	}
}

func TestResultsCarryTheWarningsOfAMachine(t *testing.T) {
	h := New(nil, nil)
	if _, err := h.Attach(t.Context(), params("n", "x"), Entry{}, newLink()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the profile is broken", ""} {
		h.Calls.Result("n", protocol.ToolResultParams{CallID: "any", Warnings: strings.Fields(strings.ReplaceAll(want, " ", "_"))})
		n, _ := h.Node("n")
		if got := strings.ReplaceAll(strings.Join(n.Warnings, ";"), "_", " "); got != want {
			t.Errorf("got the warnings %q, want %q", got, want)
		}
	}
}
