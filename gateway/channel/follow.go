package channel

import (
	"context"
	"errors"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Prefixes of the IDs of runs that answer a channel's message, and of those that answer a
// background command (package session/background).
const (
	inboundRun = "in-"
	eventRun   = "exec-"
)

// Follow sends the answers of a run that is about to start to the chat's last sender, if the run
// after was started by a channel's message or followed in this way itself. Unfollow reverts that.
func (h *Hub) Follow(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID) error {
	if !strings.HasPrefix(string(after), inboundRun) && !strings.HasPrefix(string(after), eventRun) {
		return nil
	}
	route, at, err := h.o.Store.Channels.LastRoute(ctx, chat)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	f := &following{ChannelRun: store.ChannelRun{Run: run, Session: chat, Route: route}}
	if err := h.o.Store.Channels.StartRun(ctx, f.ChannelRun, at); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[run] = f
	return nil
}

// Unfollow forgets a run that did not start.
func (h *Hub) Unfollow(ctx context.Context, run protocol.RunID) {
	if h.following(run) != nil {
		h.forget(ctx, run)
	}
}
