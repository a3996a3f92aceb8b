package channel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Programs are the channels that connect over the network, in the mode "channel".
type Programs struct{ registry *registry }

// Link is a WebSocket connection in the mode "channel".
type Link interface {
	// SendEvent queues an event. Events are sent in order.
	SendEvent(ctx context.Context, name string, payload any) error
	// Close closes the connection with a WebSocket close code and reason.
	Close(code int, reason string)
}

// receiptLimit is the time limit for the confirmation of a delivery.
const receiptLimit = 30 * time.Second

// socket is the transport of a channel over the network.
type socket struct {
	link     Link
	confirms bool     // the channel named ExtDelivery
	files    bool     // the channel named ExtMedia
	waiting  sync.Map // by delivery ID: a chan protocol.ChannelDeliveredParams, with room for one
}

// Name validates and normalizes the names in the connect request of a channel. The account defaults
// to the client ID, as in GSV.
func Name(p *protocol.ConnectParams) error {
	name, err := channelName(p.Client.Channel)
	if err != nil {
		return protocol.ErrInvalidConnect.With(err.Error())
	}
	id := p.Client.AccountID
	id = cmp.Or(id, p.Client.ID)
	p.Client.Channel, p.Client.AccountID = name, accountID(id)
	return nil
}

// Attach registers a connection in the mode "channel" that [Name] has validated, and closes an
// older one of the account. ready must be called once the peer has its hello-ok, and detach when
// the link has closed.
func (c *Programs) Attach(p protocol.ConnectParams, link Link) (ready, detach func(), err error) {
	name, id, r := p.Client.Channel, p.Client.AccountID, c.registry
	if r.drivers[name] != nil {
		return nil, nil, protocol.ErrInvalidConnect.With(fmt.Sprintf("The gateway runs the channel %s itself", name))
	}
	s := &socket{
		link: link, confirms: slices.Contains(p.Extensions, protocol.ExtDelivery),
		files: slices.Contains(p.Extensions, protocol.ExtMedia),
	}
	r.mu.Lock()
	a := r.accounts[key(name, id)]
	if a == nil {
		a = &account{channel: name, id: id}
		r.accounts[key(name, id)] = a
	}
	var old *socket
	if a.sender != nil {
		old, _ = a.sender.t.(*socket)
	}
	r.mu.Unlock()
	if old != nil {
		old.link.Close(protocol.CloseReplaced, "Replaced by newer channel connection")
	}
	l := newSender(r, a, s)
	return func() { r.setOnline(a, l, nil) }, func() { r.removeConnection(a, l) }, nil
}

// Send implements Transport.
func (s *socket) Send(ctx context.Context, m protocol.ChannelOutbound) (string, error) {
	if len(m.Message.Media) > 0 && !s.files {
		return "", NewRefusal("the channel %s does not support files", m.Channel)
	}
	if !s.confirms {
		return "", s.link.SendEvent(ctx, protocol.EventOutbound, m)
	}
	m.DeliveryID = protocol.NewID()
	answer := make(chan protocol.ChannelDeliveredParams, 1)
	s.waiting.Store(m.DeliveryID, answer)
	defer s.waiting.Delete(m.DeliveryID)
	if err := s.link.SendEvent(ctx, protocol.EventOutbound, m); err != nil {
		return "", err
	}
	select {
	case d := <-answer:
		switch {
		case d.Error == "":
			return d.MessageID, nil
		case d.Retryable:
			return "", errors.New(format.Clip(d.Error, 500))
		}
		return "", NewRefusal("%s", format.Clip(d.Error, 500))
	case <-time.After(receiptLimit):
		return "", errors.New("the channel did not confirm the delivery")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Typing implements Transport.
func (s *socket) Typing(ctx context.Context, t protocol.ChannelTyping) error {
	return s.link.SendEvent(ctx, protocol.EventTyping, t)
}

// Delivered handles a channel's confirmation of a delivery (channel.delivered, extension).
func (c *Programs) Delivered(channel, account string, in protocol.ChannelDeliveredParams) (protocol.Ack, error) {
	if in.DeliveryID == "" {
		return protocol.Ack{}, protocol.ErrBadRequest.With("deliveryId required")
	}
	if l := c.registry.senderOf(channel, account); l != nil {
		if s, ok := l.t.(*socket); ok {
			if answer, ok := s.waiting.LoadAndDelete(in.DeliveryID); ok {
				answer.(chan protocol.ChannelDeliveredParams) <- in
				return protocol.Ack{OK: true}, nil
			}
		}
	}
	return protocol.Ack{OK: true, Dropped: true}, nil
}
