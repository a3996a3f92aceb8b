package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// fakeLink records events and close calls.
type fakeLink struct {
	events chan any
	closed string
	fail   error // of events
}

func newLink() *fakeLink { return &fakeLink{events: make(chan any, 100)} }

func (l *fakeLink) SendEvent(_ context.Context, _ string, payload any) error {
	if l.fail == nil {
		l.events <- payload
	}
	return l.fail
}
func (l *fakeLink) Close(_ int, reason string) { l.closed = reason }

func params(id string, ext ...string) protocol.ConnectParams {
	return protocol.ConnectParams{
		Client: protocol.ClientInfo{ID: id, Mode: protocol.ModeNode}, Extensions: ext,
		Tools:       []protocol.ToolSpec{{Name: "Bash"}, {Name: "Read"}},
		NodeRuntime: &protocol.NodeRuntime{HostCapabilities: []string{"shell.exec", "filesystem.read"}, ToolCapabilities: map[string][]string{"Bash": {"shell.exec"}, "Read": {"filesystem.read"}}},
	}
}

func attach(t *testing.T, h *Hub, id string, ext ...string) (*fakeLink, func()) {
	t.Helper()
	l := newLink()
	detach, err := h.Attach(t.Context(), params(id, ext...), Entry{}, l)
	if err != nil {
		t.Fatal(err)
	}
	return l, detach
}

func TestRuntimeIsValidatedAsTheOriginalDoes(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*protocol.ConnectParams)
		want string
	}{
		"no tools":          {func(p *protocol.ConnectParams) { p.Tools = nil }, "Node mode requires tools"},
		"no runtime":        {func(p *protocol.ConnectParams) { p.NodeRuntime = nil }, "nodeRuntime for n is required"},
		"unknown host":      {func(p *protocol.ConnectParams) { p.NodeRuntime.HostCapabilities = []string{"x"} }, `unknown capability "x"`},
		"empty host":        {func(p *protocol.ConnectParams) { p.NodeRuntime.HostCapabilities = nil }, "at least one"},
		"missing entry":     {func(p *protocol.ConnectParams) { delete(p.NodeRuntime.ToolCapabilities, "Bash") }, "missing entry for tool: Bash"},
		"extra entry":       {func(p *protocol.ConnectParams) { p.NodeRuntime.ToolCapabilities["X"] = []string{"shell.exec"} }, "unknown tool key: X"},
		"not in host":       {func(p *protocol.ConnectParams) { p.NodeRuntime.ToolCapabilities["Read"] = []string{"text.search"} }, "missing from hostCapabilities"},
		"duplicate":         {func(p *protocol.ConnectParams) { p.Tools[1].Name = "Bash" }, "duplicate tool name: Bash"},
		"reserved id":       {func(p *protocol.ConnectParams) { p.Client.ID = "gsv" }, "reserved"},
		"id with separator": {func(p *protocol.ConnectParams) { p.Client.ID = "a__b" }, `contains "__"`},
		"id with a space":   {func(p *protocol.ConnectParams) { p.Client.ID = "a b" }, "letters, digits, dots"},
		"odd tool":          {func(p *protocol.ConnectParams) { p.Tools[0].Name = "a b" }, "letters, digits"},
		"long tool":         {func(p *protocol.ConnectParams) { p.Tools[0].Name = strings.Repeat("x", 62) }, "64 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			p := params("n")
			c.edit(&p)
			_, err := New(nil, nil).Attach(t.Context(), p, Entry{}, newLink())
			if !errors.Is(err, protocol.ErrInvalidConnect) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want …%s…", name, err, c.want)
			}
		})
	}
}

func TestToolsAreSortedByNodeAndVanishWithIt(t *testing.T) {
	h := New(nil, nil)
	_, left := attach(t, h, "tower", "x")
	attach(t, h, "laptop", "x")
	var names []string
	for _, s := range h.Tools() {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "laptop__Bash laptop__Read tower__Bash tower__Read" {
		t.Errorf(`tools = %s, want "laptop__Bash laptop__Read tower__Bash tower__Read"`, got)
	}
	left()
	if n := len(h.Tools()); n != 2 {
		t.Errorf("after the node left: got %d tools, want 2", n)
	}
	for name, code := range map[protocol.ToolName]int{"laptop__Bash": 0, "laptop:Bash": 0, "tower__Bash": 503, "nas__Bash": 404, "laptop__X": 404, "Bash": 404, "": 404} {
		_, _, err := h.Lookup(name)
		if got := protocol.AsError(err); code == 0 && err != nil || code != 0 && (got == nil || got.Code != code) {
			t.Errorf("Lookup(%q) = %v, want code %d", name, err, code)
		}
	}
	if list := h.Nodes(); len(list) != 2 || list[0].ID != "laptop" || list[1].Online {
		t.Errorf(`nodes = %+v; want length 2, list[0].ID "laptop" and not list[1].Online`, list)
	}
}

func TestNodeWithAnAmbiguousNameIsRefused(t *testing.T) {
	t.Parallel()
	h := New(nil, nil)
	const id = "node-mac.local"
	_, left := attach(t, h, id)
	twin := params(string(protocol.NodeID(id).ToolPrefix()))
	if _, err := h.Attach(t.Context(), twin, Entry{}, newLink()); !errors.Is(err, protocol.ErrInvalidConnect) || !strings.Contains(err.Error(), id) {
		t.Errorf("got %v, want a refusal that names %s", err, id)
	}
	attach(t, h, id) // the node itself may connect again
	for _, name := range []protocol.ToolName{id + "__Bash", protocol.ToolName(id + "__Bash").ForModel()} {
		if got, _, err := h.Lookup(name); err != nil || got != id {
			t.Errorf("Lookup(%q): got %q and %v, want %q", name, got, err, id)
		}
	}
	left()
}

func TestCallReturnsTheNodesResult(t *testing.T) {
	h := New(nil, nil)
	link, _ := attach(t, h, "n", "x")
	go func() {
		inv := (<-link.events).(protocol.ToolInvoke)
		if inv.Tool != "Bash" || string(inv.Args) != "{}" {
			t.Errorf(`event = %+v; want Tool "Bash" and Args "{}"`, inv)
		}
		h.Calls.Progress("n", protocol.ToolProgress{CallID: inv.CallID, Tail: "half"})
		h.Calls.Result("n", protocol.ToolResultParams{CallID: inv.CallID, Result: json.RawMessage(`"all"`)})
	}()
	var tail string
	got, err := h.Calls.Call(t.Context(), "n", protocol.ToolInvoke{CallID: "c", Tool: "Bash"}, func(p protocol.ToolProgress) { tail = p.Tail })
	if err != nil || string(got) != `"all"` || tail != "half" {
		t.Errorf("Call = %s, %v, progress %q; want no error, `\"all\"` and tail \"half\"", got, err, tail)
	}
}

func TestResultsAreTakenFromTheRightNodeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, _ := attach(t, h, "n", "x")
		attach(t, h, "other", "x")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := h.Calls.Call(ctx, "n", protocol.ToolInvoke{CallID: "c", Tool: "Bash"}, nil)
			done <- err
		}()
		<-link.events
		for _, c := range []struct {
			node protocol.NodeID
			p    protocol.ToolResultParams
			code int
		}{
			{"n", protocol.ToolResultParams{}, 400},
			{"n", protocol.ToolResultParams{CallID: "zzz"}, 404},
			{"other", protocol.ToolResultParams{CallID: "c"}, 403},
		} {
			if _, err := h.Calls.Result(c.node, c.p); protocol.AsError(err) == nil || protocol.AsError(err).Code != c.code {
				t.Errorf("Result(%s, %s) = %v, want %d", c.node, c.p.CallID, err, c.code)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v; want the error context.Canceled", err)
		}
		if ack, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: "c"}); err != nil || !ack.Dropped {
			t.Errorf("late result = %+v, %v; want no error and Dropped", ack, err)
		}
		if _, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: "c"}); !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("second late result = %v, want error ErrNotFound", err)
		}
	})
}

func TestNodeFailureIsAToolError(t *testing.T) {
	h := New(nil, nil)
	link, _ := attach(t, h, "n", "x")
	go func() {
		inv := (<-link.events).(protocol.ToolInvoke)
		h.Calls.Result("n", protocol.ToolResultParams{CallID: inv.CallID, Error: "no such file"})
	}()
	_, err := h.Calls.Call(t.Context(), "n", protocol.ToolInvoke{CallID: "c"}, nil)
	var failed *tool.Failure
	if !errors.As(err, &failed) || failed.Text != "no such file" {
		t.Errorf(`Call = %v; want an error of type *tool.Failure and Text "no such file"`, err)
	}
}

func TestReplacementAndDisconnectFailCalls(t *testing.T) {
	h := New(nil, nil)
	first, detachFirst := attach(t, h, "n", "x")
	done := make(chan error, 2)
	call := func(id protocol.CallID) {
		_, err := h.Calls.Call(context.Background(), "n", protocol.ToolInvoke{CallID: id}, nil)
		done <- err
	}
	go call("a")
	<-first.events
	second, detachSecond := attach(t, h, "n", "x")
	if err := <-done; err == nil || err.Error() != "Node replaced during tool request: n" {
		t.Errorf(`call during a replacement = %v, want the error "Node replaced during tool request: n"`, err)
	}
	if first.closed != "Replaced by newer node connection" {
		t.Errorf(`the old link was closed with %q, want "Replaced by newer node connection"`, first.closed)
	}
	detachFirst() // a late close of the replaced connection
	if n, _ := h.Node("n"); !n.Online {
		t.Error("the late close took the new connection along")
	}
	go call("b")
	<-second.events
	detachSecond()
	if err := <-done; !errors.Is(err, protocol.ErrUnavailable) || err.Error() != "Node disconnected: n" {
		t.Errorf(`call during a disconnect = %v; want error ErrUnavailable and the error "Node disconnected: n"`, err)
	}
}

func TestAnotherMachineDoesNotTakeTheNameOfTheGatewaysOwn(t *testing.T) {
	h, link := New(nil, nil), newLink()
	detach, err := h.Attach(t.Context(), params("box"), Entry{Local: true}, link)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Own("box") || h.Own("tower") {
		t.Error("it is not known which machine is the gateway's own")
	}
	if _, err := h.Attach(t.Context(), params("box"), Entry{Device: "d"}, newLink()); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("another machine with the same name: got error %v, want ErrConflict", err)
	}
	detach() // now nobody has it
	if _, err := h.Attach(t.Context(), params("box"), Entry{Device: "d"}, newLink()); err != nil || h.Own("box") {
		t.Errorf("the name is free, but: %v; want no error", err)
	}
}

func TestAbandonedHandshakeReplacesNoNode(t *testing.T) {
	h := New(nil, nil)
	late, newer := newLink(), newLink()
	if _, err := h.Attach(t.Context(), params("n", "x"), Entry{Sequence: 2}, newer); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Attach(t.Context(), params("n", "x"), Entry{Sequence: 1}, late); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("Attach = %v, want error ErrConflict", err)
	}
	if n, _ := h.Node("n"); !n.Online || newer.closed != "" {
		t.Errorf("online %v, the newer link was closed with %q; want true and nothing", n.Online, newer.closed)
	}
}

func TestSeedNodeIsGivenTimeToSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, _ := attach(t, h, "n") // no extensions: a node of GSV
		began := time.Now()
		go h.Calls.Call(t.Context(), "n", protocol.ToolInvoke{CallID: "c"}, nil)
		<-link.events
		if waited := time.Since(began); waited < settle {
			t.Errorf("the first event came after %s, want at least %s", waited, settle)
		}
		h.Calls.Result("n", protocol.ToolResultParams{CallID: "c"})
	})
}

func TestCancelReturnsThePartialOutput(t *testing.T) {
	h := New(nil, nil)
	link, _ := attach(t, h, "n", protocol.ExtCancel)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-link.events
		cancel()
		c := (<-link.events).(protocol.ToolCancel)
		h.Calls.Result("n", protocol.ToolResultParams{CallID: c.CallID, Result: json.RawMessage(`"part"`)})
	}()
	got, err := h.Calls.Call(ctx, "n", protocol.ToolInvoke{CallID: "c"}, nil)
	if string(got) != `"part"` || !errors.Is(err, context.Canceled) {
		t.Errorf("Call = %s, %v; want `\"part\"` and error Canceled", got, err)
	}
}

func TestLogsComeFromTheNode(t *testing.T) {
	h := New(new(event.Bus), nil)
	link, _ := attach(t, h, "n", "x")
	go func() {
		e := (<-link.events).(protocol.LogsGet)
		h.Calls.LogsResult("n", protocol.LogsResultParams{CallID: e.CallID, Lines: []string{"a", "b"}, Truncated: true})
	}()
	got, err := h.Calls.Logs(t.Context(), protocol.LogsGetParams{NodeID: "n"}, time.Minute)
	if err != nil || got.Count != 2 || !got.Truncated || got.NodeID != "n" {
		t.Errorf(`Logs = %+v, %v; want no error, Count 2, Truncated and NodeID "n"`, got, err)
	}
}

func TestNodeThatLeavesWhileItSettlesFailsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, detach := attach(t, h, "n") // a node of GSV: the event waits
		done := make(chan error, 2)
		go func() {
			_, err := h.Calls.Call(t.Context(), "n", protocol.ToolInvoke{CallID: "c", Tool: "Bash"}, nil)
			done <- err
		}()
		go func() {
			_, err := h.Calls.Logs(t.Context(), protocol.LogsGetParams{NodeID: "n"}, time.Minute)
			done <- err
		}()
		synctest.Wait()
		detach()
		for range 2 {
			err := <-done
			if text := strings.TrimPrefix(err.Error(), "The call was not sent: "); !errors.Is(err, protocol.ErrUnavailable) || text != "Node disconnected: n" {
				t.Errorf(`Call = %v; want error ErrUnavailable and "Node disconnected: n"`, err)
			}
		}
		time.Sleep(time.Second)
		if len(link.events) != 0 {
			t.Error("an event was sent to a node that had left")
		}
	})
}

func TestWindowsGetTheLatestStateOfAMachineLast(t *testing.T) {
	bus := new(event.Bus)
	h := New(bus, nil)
	sub := bus.Subscribe()
	defer sub.Close()
	_, first := attach(t, h, "n", "x")
	_, second := attach(t, h, "n", "x")
	first() // late: the node is connected through another connection
	second()
	second()
	var states []bool
	for range 3 {
		c, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, c.Node.Online)
	}
	if !states[0] || !states[1] || states[2] {
		t.Errorf("states = %v; want states[0], states[1] and not states[2]", states)
	}
}

// memory is a Persist in memory.
type memory struct {
	nodes   map[protocol.NodeID]protocol.NodeInfo
	stopped []protocol.CallID
}

func (m memory) StoppedCalls(_ context.Context, _ protocol.NodeID, calls []protocol.CallID) ([]protocol.CallID, error) {
	return slices.DeleteFunc(slices.Clone(calls), func(id protocol.CallID) bool { return !slices.Contains(m.stopped, id) }), nil
}

func (m memory) Put(_ context.Context, n protocol.NodeInfo, _ ...protocol.AuditEntry) error {
	m.nodes[n.ID] = n
	return nil
}

func (m memory) Delete(_ context.Context, id protocol.NodeID) (bool, error) {
	_, ok := m.nodes[id]
	delete(m.nodes, id)
	return ok, nil
}

func (m memory) List(context.Context) ([]protocol.NodeInfo, error) {
	var list []protocol.NodeInfo
	for _, n := range m.nodes {
		list = append(list, n)
	}
	return list, nil
}

func TestMachinesAreKnownAfterARestart(t *testing.T) {
	saved := memory{nodes: make(map[protocol.NodeID]protocol.NodeInfo)}
	h := New(nil, saved)
	attach(t, h, "n", "x") // and the gateway is killed
	h = New(nil, saved)
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, ok := h.Node("n")
	if !ok || n.Online || len(n.Tools) != 2 {
		t.Errorf("after the restart: got %+v, %v; want it offline with two tools", n, ok)
	}
	if _, _, err := h.Lookup("n__Bash"); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("Lookup = %v, want error ErrUnavailable", err)
	}
}

func TestPreviewAsksOnlyNodesThatCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		attach(t, h, "old", "x")
		if _, ok, err := h.Calls.Preview(t.Context(), "old", protocol.ToolInvoke{Tool: "Bash"}); ok || err != nil {
			t.Errorf("Preview = %v, %v; want not ok and no error", ok, err)
		}
		link, _ := attach(t, h, "new", protocol.ExtPreview)
		go func() {
			inv := (<-link.events).(protocol.ToolInvoke)
			if !inv.Preview {
				t.Error("the call would have been run")
			}
			h.Calls.Result("new", protocol.ToolResultParams{CallID: inv.CallID, Result: json.RawMessage(`{"folder":"/w"}`)})
		}()
		if p, ok, err := h.Calls.Preview(t.Context(), "new", protocol.ToolInvoke{Tool: "Bash"}); !ok || err != nil || p.Folder != "/w" {
			t.Errorf(`Preview = %+v, %v, %v; want ok, no error and Folder "/w"`, p, ok, err)
		}
		began := time.Now()
		if _, ok, err := h.Calls.Preview(t.Context(), "new", protocol.ToolInvoke{Tool: "Bash"}); ok || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != previewLimit {
			t.Errorf("Preview of a silent node = %v, %v after %s; want not ok, error DeadlineExceeded and time since began %v", ok, err, time.Since(began), previewLimit)
		}
	})
}

func TestCallOfAnOfflineNodeIsNotSent(t *testing.T) {
	h := New(nil, nil)
	l, detach := attach(t, h, "n", "x")
	want := func(why string) {
		t.Helper()
		_, err := h.Calls.Call(t.Context(), "n", protocol.ToolInvoke{CallID: "c", Tool: "Bash"}, nil)
		failed, ok := errors.AsType[*tool.Failure](err)
		if text := "The call was not sent: " + why; !ok || failed.Text != text || failed.Fault.Code != protocol.FaultTargetUnreachable || !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("got %#v, want a failure: %s", err, text)
		}
	}
	l.fail = protocol.ErrUnavailable.With("connection closed")
	want("Node disconnected: n")
	detach()
	want("Node not connected: n")
}
