package backend

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// openForward opens a forward to a small server on this computer, through this computer's node.
func openForward(t *testing.T, b *Backend, saved bool) forwards.Forward {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") }))
	t.Cleanup(s.Close)
	await(t, b, "a machine", online)
	f, err := b.Forwards.Open(t.Context(), forwards.Spec{Node: b.Feed.View().Machines[0].ID, Target: s.Listener.Addr().String()}, saved)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func get(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get("http://" + address)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// awaitForwards waits until the forwards of the program satisfy a condition.
func awaitForwards(t *testing.T, b *Backend, what string, ok func([]forwards.Forward) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for list := range b.Forwards.List.Changes(ctx) {
		if ok(list) {
			return
		}
	}
	t.Fatalf("%s did not happen; the forwards are %+v", what, b.Forwards.List.Get())
}

func TestForwardRunsUntilItIsClosed(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	f := openForward(t, b, false)
	if got := get(t, f.Local()); got != "served" {
		t.Errorf("through the forward: got %q, want %q", got, "served")
	}
	if _, err := b.Forwards.Open(t.Context(), f.Spec, false); err == nil {
		t.Error("a second forward got the port of the first, want an error")
	}
	if len(b.Prefs.Get().Forwards) != 0 {
		t.Errorf("got %v saved, want none", b.Prefs.Get().Forwards)
	}
	if !b.Forwards.EndOwn(f.Local()) || b.Forwards.EndOwn(f.Local()) {
		t.Error("closing the forward twice: want true, then false")
	}
	polltest.Until(t, "the local port is closed", func() bool {
		conn, err := net.Dial("tcp", f.Local())
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

func TestForwardThatIsClosedElsewhereIsForgotten(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	f := openForward(t, b, true)
	if got := b.Prefs.Get().Forwards; len(got) != 1 || got[0] != f.Spec {
		t.Errorf("saved: got %v, want %v", got, f.Spec)
	}
	if err := feed.Send(t.Context(), b.Feed, protocol.ForwardClose, protocol.ForwardParams{ID: f.ID}); err != nil {
		t.Fatal(err)
	}
	awaitForwards(t, b, "the end", func(list []forwards.Forward) bool { return len(list) == 0 })
	if got := b.Prefs.Get().Forwards; len(got) != 0 {
		t.Errorf("saved: got %v, want none", got)
	}
}

func TestSavedForwardIsOpenedAtTheNextStart(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	f := openForward(t, b, true)
	b.Prefs.Close()
	b.Stop()
	next := New(Options{Home: b.opts.Home, Listen: "none", Workspace: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(next.Prefs.Close)
	next.stopTimeout = b.stopTimeout
	next.Start()
	defer next.Stop()
	awaitForwards(t, next, "the forward", func(list []forwards.Forward) bool {
		return len(list) == 1 && list[0].ID != "" && list[0].Spec == f.Spec
	})
	if got := get(t, f.Local()); got != "served" {
		t.Errorf("through the forward: got %q, want %q", got, "served")
	}
	if got := next.Prefs.Get().Forwards; len(got) != 1 {
		t.Errorf("saved: got %v, want one", got)
	}
}

func TestThePersonIsAskedWhatThisComputerMayReach(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	await(t, b, "a machine", online)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") })}
	l, err := net.Listen("tcp", net.JoinHostPort(outsideAddress(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	go s.Serve(l)
	f, err := b.Forwards.Open(t.Context(), forwards.Spec{Node: b.Feed.View().Machines[0].ID, Target: l.Addr().String()}, false)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() { got <- get(t, f.Local()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for q := range b.Gateways.Nodes.Targets.Question.Changes(ctx) {
		if q == nil {
			continue
		}
		if q.Target != l.Addr().String() || q.Gateway != "" {
			t.Errorf("asks %+v, want %s for the gateway of this computer", q, l.Addr())
		}
		q.Answer(true)
		break
	}
	if text := <-got; text != "served" {
		t.Errorf("after yes: got %q, want %q", text, "served")
	}
}

// outsideAddress returns an address of this computer that is not loopback.
func outsideAddress(t *testing.T) string {
	t.Helper()
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	t.Skip("this computer has no address besides loopback")
	return ""
}
