package channel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// sayWait is how long Say waits to see that a message got out.
const sayWait = 20 * time.Second

// Words are a message that the agent or a schedule sends by itself. Empty fields mean whom the chat is with.
type Words struct {
	Text                                  string
	Channel, AccountID, To, Kind, ReplyTo string
	Files                                 []protocol.Media // with their content
	// Later has it wait in the outbox while the account is not connected; else that is an error.
	Later bool
}

// Said is the result of sending a message. Its JSON is our own: the protocol does not define the
// result of gsv__Message.
type Said struct {
	Sent      bool   `json:"sent"`
	Queued    bool   `json:"queued,omitempty"` // it is in the outbox, and the network has not taken it yet
	Channel   string `json:"channel"`
	To        string `json:"to"`
	PeerKind  string `json:"peerKind"`
	AccountID string `json:"accountId"`
	MessageID string `json:"messageId,omitempty"`
}

// Say sends a message on behalf of a chat and waits until the network took it, but not long.
func (h *Hub) Say(ctx context.Context, from protocol.SessionKey, w Words) (Said, error) {
	route, known, err := h.target(ctx, from, w)
	if err != nil {
		return Said{}, err
	}
	said := Said{Channel: route.Channel, To: route.Peer.ID, PeerKind: route.Peer.Kind, AccountID: route.AccountID}
	away := h.lineOf(route.Channel, route.AccountID) == nil
	waits := known && h.drivers[route.Channel] == nil || h.kept(route.Channel, route.AccountID) // one that the person stopped does not come back by itself
	if away && !(w.Later && waits) {
		return Said{}, protocol.ErrUnavailable.With(fmt.Sprintf("The channel %s (%s) is not connected.", route.Channel, route.AccountID))
	}
	id := "say:" + protocol.NewID()
	end := make(chan delivery, 1)
	h.mu.Lock()
	h.waiters[id] = end
	h.mu.Unlock()
	e := outboundTo(route, from, w.Text)
	e.Message.ReplyToID, e.Message.Media = w.ReplyTo, w.Files
	if err := h.put(ctx, id, e); err != nil {
		h.unwait(id)
		return Said{}, err
	}
	if away {
		h.unwait(id)
		said.Queued = true
		return said, nil
	}
	timer := time.NewTimer(sayWait)
	defer timer.Stop()
	select {
	case d := <-end:
		if d.err != nil {
			return Said{}, d.err
		}
		said.Sent, said.MessageID = true, d.messageID
		return said, nil
	case <-timer.C:
		said.Queued = true
	case <-ctx.Done():
		h.unwait(id)
		return Said{}, ctx.Err()
	}
	h.unwait(id)
	return said, nil
}

func (h *Hub) unwait(id string) {
	h.mu.Lock()
	delete(h.waiters, id)
	h.mu.Unlock()
}

// target finds out whom a message is for. known says that somebody has written to the chat over that account.
func (h *Hub) target(ctx context.Context, from protocol.SessionKey, w Words) (r store.Route, known bool, err error) {
	last, _, err := h.o.Store.LastRoute(ctx, from)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
	case err != nil:
		return r, false, err
	}
	name := last.Channel
	if w.Channel != "" {
		if name, err = channelName(w.Channel); err != nil {
			return r, false, err
		}
	}
	if name == "" {
		return r, false, protocol.ErrBadRequest.With("Nobody has written to this chat over a channel yet: say the channel and to whom.")
	}
	r = store.Route{Channel: name, Peer: protocol.Peer{Kind: cmp.Or(w.Kind, protocol.PeerDM), ID: w.To}}
	if w.Channel == "" || name == last.Channel {
		r.AccountID = last.AccountID
		if w.To == "" || w.To == last.Peer.ID {
			r.Peer = last.Peer
			r.Peer.Kind = cmp.Or(w.Kind, last.Peer.Kind)
		}
	}
	if r.Peer.ID == "" {
		return r, false, protocol.ErrBadRequest.With(fmt.Sprintf("Say to whom on %s: this chat was with nobody there yet.", name))
	}
	if w.AccountID != "" {
		r.AccountID = accountID(w.AccountID)
	}
	if r.AccountID == "" {
		r.AccountID, err = h.onlyAccount(name, w.Later)
	}
	return r, r.Channel == last.Channel && r.AccountID == last.AccountID, err
}

// kept reports whether an account is kept connected, though it may not be at this moment.
func (h *Hub) kept(channel, account string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.accounts[key(channel, account)]
	return a != nil && a.kept()
}

// kept needs the hub's lock.
func (a *account) kept() bool { return a.driver != nil && a.done != nil && !ended(a.done) }

// onlyAccount is the account that is meant when none is named: the only one that is connected, else the default one. later counts those, too, that
// will be.
func (h *Hub) onlyAccount(name string, later bool) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for _, a := range h.accounts {
		if a.channel == name && (a.line != nil || later && a.kept()) {
			ids = append(ids, a.id)
		}
	}
	switch len(ids) {
	case 0:
		return "", protocol.ErrUnavailable.With(fmt.Sprintf("The channel %s is not connected.", name))
	case 1:
		return ids[0], nil
	}
	for _, id := range ids {
		if id == DefaultAccount {
			return id, nil
		}
	}
	return "", protocol.ErrBadRequest.With(fmt.Sprintf("%s has several accounts: say which with accountId.", name))
}

// LastActive is where somebody wrote to an agent last, nil when nobody did.
func (h *Hub) LastActive(ctx context.Context, agent protocol.AgentID) *protocol.LastActive {
	r, at, err := h.o.Store.LastRouteOf(ctx, agent)
	if err != nil {
		return nil
	}
	return &protocol.LastActive{Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, Timestamp: at}
}
