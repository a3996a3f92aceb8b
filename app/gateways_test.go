package app

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// TestAWindowLooksAtAnotherGateway pairs this computer's windows with the gateway of another data folder over its network listener, looks at
// it in a backend of its own, and leaves it again.
func TestAWindowLooksAtAnotherGateway(t *testing.T) {
	other := newTestBackend(t) // another computer
	other.start()
	defer other.stop()
	await(t, other, "a machine", online)
	for _, set := range []struct {
		path  string
		value any
	}{{"network.listen", "127.0.0.1:0"}, {"network.discovery", false}, {"network.enabled", true}} { // open last: it would open anew
		if err := other.state.Set(t.Context(), set.path, set.value); err != nil {
			t.Fatal(err)
		}
	}
	pairing := func() state.Pairing { return other.state.LoadPairing(t.Context()) }
	for end := time.Now().Add(15 * time.Second); !pairing().Network.Listening; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the gateway does not listen: %+v", pairing().Network)
		}
	}
	invite, err := state.Call(t.Context(), other.state, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	if err != nil {
		t.Fatal(err)
	}

	home := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := newGateways(ctx, home, slog.New(slog.DiscardHandler))
	asked := make(chan []string, 1)
	go func() { // the person there
		words := <-asked
		for _, q := range pairing().Requests {
			if slices.Equal(q.Words, words) {
				state.Call(ctx, other.state, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: q.ID})
			}
		}
	}()
	name, err := g.Pair(ctx, invite.Link, "", func(words []string, _ int) { asked <- words })
	if err != nil {
		t.Fatal(err)
	}
	list, err := g.List()
	if err != nil || len(list) != 1 || list[0].Name != name || list[0].Ended != "" {
		t.Fatalf("the gateways are %+v, %v; paired with %q", list, err, name)
	}
	if names := g.names.Get(); len(names) != 1 || names[0].Name != name {
		t.Errorf("the tray lists %v", names)
	}

	peer, err := g.peers.Lookup(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	window := newBackend(flags{join: list[0].ID, peer: &peer}, home, slog.New(slog.DiscardHandler))
	window.start()
	v := await(t, window, "the other gateway's machine", online)
	if v.Nodes[0].ID != other.state.Value.Get().Nodes[0].ID {
		t.Errorf("the window shows %v", v.Nodes)
	}
	if window.prefs.path == filepath.Join(home, "windows.json") {
		t.Error("the window keeps its size where the person's own gateway has its")
	}

	// The pairing ends: the window says so, and that the gateway was told.
	if told, err := g.Leave(ctx, list[0].ID); err != nil || !told {
		t.Errorf("leaving: told %t, %v", told, err)
	}
	await(t, window, "the end of the connection", func(v state.View) bool { return !v.Connected && v.Problem != "" })
	if list, err := g.List(); err != nil || len(list) != 0 {
		t.Errorf("after leaving the gateways are %v, %v", list, err)
	}
	window.stop()
	window.prefs.close()
}

func TestAWindowTellsItsProgramWhatWaits(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, "a library's word\n-3\n")
		tellNeeds(w, slices.Values([]int{0, 2, 2, 1, 0}))
		w.Close()
	}()
	var heard []int
	hearNeeds(r, func(n int) { heard = append(heard, n) })
	if !slices.Equal(heard, []int{2, 1, 0}) {
		t.Errorf("heard %v", heard)
	}
	r.Close()
	tellNeeds(w, func(yield func(int) bool) {
		if yield(5) {
			t.Error("it goes on though nobody hears it")
		}
	})

	g := newGateways(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	g.names.Update(func([]state.GatewayLine) []state.GatewayLine { return []state.GatewayLine{{ID: "a"}, {ID: "b"}} })
	g.needs("b", 4)
	if got := g.names.Get(); got[0].Needs != 0 || got[1].Needs != 4 {
		t.Errorf("%+v", got)
	}
}
