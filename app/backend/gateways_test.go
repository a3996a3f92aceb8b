package backend

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/gateways"
	"fairlead/app/inbox"
	"fairlead/app/preferences"
	"fairlead/app/question"
	"fairlead/app/settings"
	"fairlead/gateway"
	"fairlead/gateway/protocol"
)

// reachable starts another computer, whose gateway listens on the network; the caller stops it.
func reachable(t *testing.T) *Backend {
	t.Helper()
	other := newTestBackend(t)
	other.Start()
	await(t, other, "a machine", online)
	for _, set := range []struct {
		path  string
		value any
	}{{"network.listen", "127.0.0.1:0"}, {"network.discovery", false}, {"network.enabled", true}} { // enabled last: otherwise each change would reopen it
		if err := feed.Set(t.Context(), other.Feed, set.path, set.value); err != nil {
			t.Fatal(err)
		}
	}
	pairing := func() feed.Pairing { return other.Feed.View().Pairing }
	for end := time.Now().Add(3 * time.Minute); !pairing().Network.Listening; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the gateway does not listen: %+v", pairing().Network)
		}
	}
	return other
}

// agree is the owner of the other gateway, who approves requests with the expected words.
func agree(t *testing.T, other *Backend) (show func(words []string, seconds int)) {
	asked := make(chan []string, 1)
	go func() {
		select {
		case words := <-asked:
			for ; t.Context().Err() == nil; time.Sleep(10 * time.Millisecond) {
				for _, q := range other.Feed.View().Questions.Pending.Of(protocol.AskPair, protocol.AskWiden) {
					if slices.Equal(q.Pairing.Words, words) {
						inbox.NewModel(other.Feed).Answer([]protocol.Question{q}, question.Answer(true))
						return
					}
				}
			}
		case <-t.Context().Done():
		}
	}()
	return func(words []string, _ int) { asked <- words }
}

// TestWindowShowsAnotherGateway pairs this computer's windows with the gateway of another data
// folder over its network listener, connects a backend to it, and leaves it again.
func TestWindowShowsAnotherGateway(t *testing.T) {
	other := reachable(t)
	defer other.Stop()
	invite, err := feed.Call(t.Context(), other.Feed, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	if err != nil {
		t.Fatal(err)
	}

	home := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := gateways.New(ctx, home, gateway.Version, slog.New(slog.DiscardHandler))
	name, err := g.Pair(ctx, settings.Invitation{Text: invite.Link}, agree(t, other))
	if err != nil {
		t.Fatal(err)
	}
	list, err := g.List()
	if err != nil || len(list) != 1 || list[0].Name != name || list[0].RefusedReason != "" {
		t.Fatalf("the gateways are %+v, %v; paired with %q", list, err, name)
	}
	if names := g.Lines.Get(); len(names) != 1 || names[0].Name != name {
		t.Errorf("the tray lists %v", names)
	}

	peer, err := g.Peers.Lookup(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	window := New(Options{Home: home, Join: list[0].ID, Peer: &peer, Log: slog.New(slog.DiscardHandler)})
	window.Start()
	v := await(t, window, "the other gateway's machine", online)
	if v.Machines[0].ID != other.Feed.View().Machines[0].ID {
		t.Errorf("the window shows %v", v.Machines)
	}
	if dir := preferences.Dir(home, list[0].ID); dir == home {
		t.Error("the window keeps its size where the person's own gateway has its")
	}

	// The pairing ends: the window shows that, and that the gateway was notified.
	if told, err := g.Leave(ctx, list[0].ID); err != nil || !told {
		t.Errorf("leaving: told %t, %v; want true and no error", told, err)
	}
	await(t, window, "the end of the connection", func(v feed.View) bool { return !v.Status.Connected && v.Status.Problem != "" })
	if list, err := g.List(); err != nil || len(list) != 0 {
		t.Errorf("after leaving the gateways are %v, %v", list, err)
	}
	window.Stop()
	window.Prefs.Close()
}

// TestThisComputerWorksForAnotherGateway offers this computer's tools to the gateway of another
// data folder, which calls one, then changes the workspace, and leaves.
func TestThisComputerWorksForAnotherGateway(t *testing.T) {
	other := reachable(t)
	defer other.Stop()
	invite := func() settings.Invitation {
		i, err := feed.Call(t.Context(), other.Feed, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleNode})
		if err != nil {
			t.Fatal(err)
		}
		return settings.Invitation{Text: i.Link, AsMachine: true}
	}
	here := newTestBackend(t)
	here.Start()
	defer here.Stop()
	await(t, here, "a machine", online)
	g := here.Gateways
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := g.Nodes.Applicant("cellar"); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("cellar does not ask within three minutes: got %v, want no error", err)
		}
	}
	// Both computers have the same name, so this one's name is taken there.
	if _, err := g.Pair(t.Context(), invite(), func([]string, int) {}); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("a second machine of that name: %v", err)
	}
	taken := invite()
	taken.Name = "cellar"
	name, err := g.Pair(t.Context(), taken, agree(t, other))
	if err != nil {
		t.Fatal(err)
	}
	cellar := func(online bool) func(feed.View) bool {
		return func(v feed.View) bool {
			at := slices.IndexFunc(v.Machines, func(n protocol.NodeInfo) bool { return n.ID == "cellar" })
			return at >= 0 && v.Machines[at].Online == online
		}
	}
	reads := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := feed.Call(t.Context(), other.Feed, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "cellar__Read", Args: []byte(`{"path":"note.txt"}`)})
		if err != nil || !strings.Contains(string(r.Result), text) {
			t.Errorf("the agent there reads %s, %v", r.Result, err)
		}
	}
	await(t, other, "this computer there", cellar(true))
	reads(here.Workspace(), "what lies here")
	list, err := g.List()
	if err != nil || len(list) != 1 || !list[0].IsMachine || list[0].OfflineReason != "" || list[0].Name != name {
		t.Errorf("the gateways are %+v, %v", list, err)
	}
	if len(g.Lines.Get()) != 0 {
		t.Errorf("the tray offers a window on %v", g.Lines.Get())
	}
	// Pair for windows, too: either pairing can end without the other.
	window, err := feed.Call(t.Context(), other.Feed, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Pair(t.Context(), settings.Invitation{Text: window.Link}, agree(t, other)); err != nil {
		t.Fatal(err)
	}
	both, err := g.List()
	if err != nil || len(both) != 2 || both[0].ID == both[1].ID || !both[0].IsMachine || both[0].OfflineReason != "" || both[1].IsMachine || both[1].OfflineReason != "" || len(g.Lines.Get()) != 1 {
		t.Fatalf("the gateways are %+v, %v; the tray lists %v", both, err, g.Lines.Get())
	}
	if told, err := g.Leave(t.Context(), both[1].ID); err != nil || !told {
		t.Errorf("leaving as a window: told %t, %v; want true and no error", told, err)
	}
	if left, err := g.List(); err != nil || len(left) != 1 || left[0].ID != list[0].ID || left[0].OfflineReason != "" {
		t.Errorf("after leaving as a window the gateways are %+v, %v", left, err)
	}
	// A new workspace here applies to the agent there, once the person there has approved it.
	here.opts.Workspace = ""
	dir := t.TempDir()
	if err := here.setWorkspace(dir); err != nil {
		t.Fatal(err)
	}
	var wider []protocol.Question
	for end := time.Now().Add(3 * time.Minute); len(wider) == 0; time.Sleep(10 * time.Millisecond) {
		wider = other.Feed.View().Questions.Pending.Of(protocol.AskPair, protocol.AskWiden)
		if time.Now().After(end) {
			t.Fatal("the person there is not asked")
		}
	}
	answer := question.Answer(true)
	answer.ID, answer.Hash = wider[0].ID, wider[0].Hash
	if _, err := feed.Call(t.Context(), other.Feed, protocol.QuestionAnswer, answer); err != nil {
		t.Fatal(err)
	}
	await(t, other, "this computer again", cellar(true))
	reads(dir, "what lies in the other folder")

	if told, err := g.Leave(t.Context(), list[0].ID); err != nil || !told {
		t.Errorf("leaving: told %t, %v; want true and no error", told, err)
	}
	await(t, other, "this computer's end", func(v feed.View) bool { return !cellar(true)(v) })
	if list, err := g.List(); err != nil || len(list) != 0 {
		t.Errorf("after leaving the gateways are %v, %v", list, err)
	}
}
