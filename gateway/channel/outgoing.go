package channel

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// sendWait is the time for which SendMessage waits for a delivery.
const sendWait = 20 * time.Second

// Outgoing is a message of the agent or a schedule. Empty fields default to the chat's current
// peer.
type Outgoing struct {
	Text                                  string
	Channel, AccountID, To, Kind, ReplyTo string
	Files                                 []protocol.Media // with their content
	// Later allows the message to wait in the outbox while the account is not connected.
	Later bool
}

// SendResult is the result of sending a message, in JSON that the protocol does not define.
type SendResult struct {
	Sent      bool   `json:"sent"`
	Queued    bool   `json:"queued,omitempty"` // it is in the outbox, and not accepted by the network yet
	Channel   string `json:"channel"`
	To        string `json:"to"`
	PeerKind  string `json:"peerKind"`
	AccountID string `json:"accountId"`
	MessageID string `json:"messageId,omitempty"`
}

// Messenger sends the messages of agents and schedules.
type Messenger struct {
	routes   routeReader
	outbox   *outbox
	registry *registry
	config   func() config.Config
	files    *workspace.Files
}

// routeReader reads where the last messages came from; *store.Channels implements it.
type routeReader interface {
	LastRoute(ctx context.Context, chat protocol.SessionKey) (store.Route, int64, error)
	LastRouteOfAgent(ctx context.Context, agent protocol.AgentID) (store.Route, int64, error)
}

// SendMessage sends a message and waits up to [sendWait] until the network accepts it.
func (m *Messenger) SendMessage(ctx context.Context, from protocol.SessionKey, w Outgoing) (SendResult, error) {
	route, known, err := m.target(ctx, from, w)
	if err != nil {
		return SendResult{}, err
	}
	res := SendResult{Channel: route.Channel, To: route.Peer.ID, PeerKind: route.Peer.Kind, AccountID: route.AccountID}
	isOffline := m.registry.senderOf(route.Channel, route.AccountID) == nil
	// An account that the person stopped does not reconnect.
	canWait := known && m.registry.drivers[route.Channel] == nil || m.registry.isManaged(route.Channel, route.AccountID)
	if isOffline && !(w.Later && canWait) {
		return SendResult{}, protocol.ErrUnavailable.With(fmt.Sprintf("The channel %s (%s) is not connected.", route.Channel, route.AccountID))
	}
	id := "say:" + protocol.NewID()
	outcome := make(chan delivery, 1)
	m.outbox.waiters.Store(id, outcome)
	defer m.outbox.waiters.Delete(id)
	e := outboundTo(route, from, w.Text)
	e.Message.ReplyToID, e.Message.Media = w.ReplyTo, w.Files
	if err := m.outbox.add(ctx, id, e); err != nil {
		return SendResult{}, err
	}
	if isOffline {
		res.Queued = true
		return res, nil
	}
	select {
	case d := <-outcome:
		if d.err != nil {
			return SendResult{}, d.err
		}
		res.Sent, res.MessageID = true, d.messageID
	case <-time.After(sendWait):
		res.Queued = true
	case <-ctx.Done():
		return SendResult{}, ctx.Err()
	}
	return res, nil
}

// target returns the receiver of a message. known reports whether somebody wrote to the chat from
// there.
func (m *Messenger) target(ctx context.Context, from protocol.SessionKey, w Outgoing) (r store.Route, known bool, err error) {
	last, _, err := m.routes.LastRoute(ctx, from)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
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
		r.AccountID, err = m.registry.onlyAccount(name, w.Later)
	}
	return r, r.Channel == last.Channel && r.AccountID == last.AccountID, err
}

// LastActive returns where somebody wrote to an agent last, or nil.
func (m *Messenger) LastActive(ctx context.Context, agent protocol.AgentID) *protocol.LastActive {
	r, at, err := m.routes.LastRouteOfAgent(ctx, agent)
	if err != nil {
		return nil
	}
	return &protocol.LastActive{Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, Timestamp: at}
}

// Deliver sends an answer to its receiver on a channel, or else to the last address of the main
// chat on a channel. It describes where it went; "" means that the main chat has no such address.
func (m *Messenger) Deliver(ctx context.Context, d cron.Delivery) (receiver string, err error) {
	home := m.config().Session.Main(d.Agent)
	sent, err := m.SendMessage(ctx, home, Outgoing{Text: d.Text, Channel: d.Channel, To: d.To, Later: true})
	switch {
	case err == nil:
		return sent.receiver(), nil
	case !d.IsAddressed() && (errors.Is(err, protocol.ErrBadRequest) || ctx.Err() != nil):
		return "", ctx.Err() // nobody writes to the agent over a channel
	}
	return "", err
}

// receiver describes the receiver of a message.
func (s SendResult) receiver() string {
	text := s.To + " on " + s.Channel
	if s.Queued {
		text += ", as soon as the channel is connected"
	}
	return text
}

// Limits of the files of one message that an agent sends.
const (
	maxAttached      = 4
	maxAttachedBytes = 10 << 20
)

// Tool implements gsv__Message: it sends a message for the agent of a chat.
func (m *Messenger) Tool(ctx context.Context, call tool.Call, in native.MessageIn) (any, error) {
	return m.SendFiles(ctx, call.Session.Agent(), call.Session, Outgoing{
		Text: in.Text, Channel: in.Channel, AccountID: in.AccountID, To: in.To, Kind: in.PeerKind, ReplyTo: in.ReplyToID,
	}, in.Files)
}

// SendFiles is [Messenger.SendMessage] with files from the agent's workspace.
func (m *Messenger) SendFiles(ctx context.Context, agent protocol.AgentID, from protocol.SessionKey, w Outgoing, paths []string) (SendResult, error) {
	var err error
	if w.Files, err = attach(m.files, agent, paths); err != nil {
		return SendResult{}, err
	}
	return m.SendMessage(ctx, from, w)
}

// attach reads the files that an agent sends.
func attach(files *workspace.Files, agent protocol.AgentID, paths []string) (list []protocol.Media, err error) {
	if len(paths) > maxAttached {
		return nil, protocol.ErrTooLarge.With(fmt.Sprintf("a message may have at most %d files", maxAttached))
	}
	total := 0
	for _, name := range paths {
		f, err := files.ReadFile(agent, name)
		if err != nil {
			return nil, err
		}
		if total += len(f.Data); total > maxAttachedBytes {
			return nil, protocol.ErrTooLarge.With(fmt.Sprintf("the files of a message may have at most %d MB together", maxAttachedBytes>>20))
		}
		m := protocol.Media{Type: "document", Filename: path.Base(f.Path), Size: int64(len(f.Data)), Data: base64.StdEncoding.EncodeToString(f.Data)}
		m.MimeType, _, _ = strings.Cut(cmp.Or(mime.TypeByExtension(path.Ext(f.Path)), http.DetectContentType(f.Data)), ";")
		if kind, _, _ := strings.Cut(m.MimeType, "/"); slices.Contains([]string{"image", "audio", "video"}, kind) {
			m.Type = kind
		}
		list = append(list, m)
	}
	return list, nil
}
