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

// sendWait is the time for which SendMessage waits for a delivery.
const sendWait = 20 * time.Second

// Outgoing are a message that the agent or a schedule sends on its own. Empty fields default to the
// chat's current peer.
type Outgoing struct {
	Text                                  string
	Channel, AccountID, To, Kind, ReplyTo string
	Files                                 []protocol.Media // with their content
	// Later allows the message to wait in the outbox while the account is not connected; otherwise
	// that is an error.
	Later bool
}

// SendResult is the result of sending a message. Its JSON is our own: the protocol does not define
// the result of gsv__Message.
type SendResult struct {
	Sent      bool   `json:"sent"`
	Queued    bool   `json:"queued,omitempty"` // it is in the outbox, and not accepted by the network yet
	Channel   string `json:"channel"`
	To        string `json:"to"`
	PeerKind  string `json:"peerKind"`
	AccountID string `json:"accountId"`
	MessageID string `json:"messageId,omitempty"`
}

// SendMessage sends a message on behalf of a chat and waits up to [sendWait] until the network
// accepts it.
func (h *Hub) SendMessage(ctx context.Context, from protocol.SessionKey, w Outgoing) (SendResult, error) {
	route, known, err := h.target(ctx, from, w)
	if err != nil {
		return SendResult{}, err
	}
	said := SendResult{Channel: route.Channel, To: route.Peer.ID, PeerKind: route.Peer.Kind, AccountID: route.AccountID}
	away := h.senderOf(route.Channel, route.AccountID) == nil
	// An account that the person stopped does not reconnect.
	waits := known && h.drivers[route.Channel] == nil || h.isManaged(route.Channel, route.AccountID)
	if away && !(w.Later && waits) {
		return SendResult{}, protocol.ErrUnavailable.With(fmt.Sprintf("The channel %s (%s) is not connected.", route.Channel, route.AccountID))
	}
	id := "say:" + protocol.NewID()
	outcome, stopWaiting := h.outbox.await(id)
	defer stopWaiting()
	e := outboundTo(route, from, w.Text)
	e.Message.ReplyToID, e.Message.Media = w.ReplyTo, w.Files
	if err := h.outbox.put(ctx, id, e); err != nil {
		return SendResult{}, err
	}
	if away {
		said.Queued = true
		return said, nil
	}
	timer := time.NewTimer(sendWait)
	defer timer.Stop()
	select {
	case d := <-outcome:
		if d.err != nil {
			return SendResult{}, d.err
		}
		said.Sent, said.MessageID = true, d.messageID
		return said, nil
	case <-timer.C:
		said.Queued = true
	case <-ctx.Done():
		return SendResult{}, ctx.Err()
	}
	return said, nil
}

// target determines the receiver of a message. known reports whether somebody has written to the
// chat over that account.
func (h *Hub) target(ctx context.Context, from protocol.SessionKey, w Outgoing) (r store.Route, known bool, err error) {
	last, _, err := h.o.Store.Channels.LastRoute(ctx, from)
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
		return r, false, protocol.ErrBadRequest.With("Nobody has written to this chat over a channel yet: name the channel and the receiver (channel and to).")
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
		return r, false, protocol.ErrBadRequest.With(fmt.Sprintf("Name the receiver on %s (to): nobody there has written to this chat yet.", name))
	}
	if w.AccountID != "" {
		r.AccountID = accountID(w.AccountID)
	}
	if r.AccountID == "" {
		r.AccountID, err = h.onlyAccount(name, w.Later)
	}
	return r, r.Channel == last.Channel && r.AccountID == last.AccountID, err
}

// isManaged reports whether the hub keeps an account connected, even if it is not connected at the
// moment.
func (h *Hub) isManaged(channel, account string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.accounts[key(channel, account)]
	return a != nil && a.isManaged()
}

// isManaged requires the hub's lock.
func (a *account) isManaged() bool { return a.driver != nil && a.done != nil && !isClosed(a.done) }

// onlyAccount returns the account to use when none is named: the only connected one, or the default
// one of several. later includes accounts that the hub is connecting.
func (h *Hub) onlyAccount(name string, later bool) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for _, a := range h.accounts {
		if a.channel == name && (a.sender != nil || later && a.isManaged()) {
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
	return "", protocol.ErrBadRequest.With(fmt.Sprintf("%s has several accounts: name one with accountId.", name))
}

// LastActive returns where somebody wrote to an agent last, or nil.
func (h *Hub) LastActive(ctx context.Context, agent protocol.AgentID) *protocol.LastActive {
	r, at, err := h.o.Store.Channels.LastRouteOfAgent(ctx, agent)
	if err != nil {
		return nil
	}
	return &protocol.LastActive{Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, Timestamp: at}
}
