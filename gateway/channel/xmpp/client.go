package xmpp

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/channel"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

const (
	// pingEvery is the interval between pings on an idle connection, pingLimit the time limit for
	// the answer.
	pingEvery = time.Minute
	pingLimit = 30 * time.Second
	// maxBody limits the text of one message, in bytes. Longer texts are split.
	maxBody = 30_000
	// maxInbox is the number of messages that the hub processes at once. Further ones stay in the
	// connection.
	maxInbox = 64
)

// client serves one connection.
type client struct {
	s   *stream
	set settings
	up  *channel.Upstream

	waiters sync.Map // by ID of the sent stanza: a chan iq, with room for one response to each ID

	mu            sync.Mutex // guards the fields below
	rooms         map[string]*room
	uploadService string          // the service for uploads; empty until it is known
	downloadHost  string          // host and port of the server's file downloads; empty until they are known
	warned        map[string]bool // senders who were told that encrypted messages cannot be read
	subscribers   map[string]bool // senders of presence subscriptions who may not write to the agent yet
}

func newClient(s *stream, set settings, up *channel.Upstream) *client {
	c := &client{s: s, set: set, up: up, rooms: make(map[string]*room), warned: make(map[string]bool), subscribers: make(map[string]bool)}
	for _, r := range set.rooms {
		c.rooms[r] = &room{nick: set.nick, jids: make(map[string]string)}
	}
	return c
}

// serve reads stanzas until the connection closes.
func (c *client) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg crash.Group
	stop := crash.WhenDone(ctx, func() {
		c.s.send("</stream:stream>")
		c.s.conn.Close()
	})
	defer func() {
		cancel(nil)
		stop()
		c.s.conn.Close()
		wg.Wait()
	}()
	wg.Go(func() { c.pings(ctx, cancel) })
	messages := &inbox{c: c, wg: &wg, slots: make(chan struct{}, maxInbox)}
	if err := c.s.send("<presence/>"); err != nil {
		return err
	}
	if err := c.joinRooms(); err != nil {
		return err
	}
	c.up.Online(transport{c}, map[string]any{"jid": bare(c.s.jid), "rooms": c.set.rooms})
	for {
		start, err := c.s.next()
		if err == nil {
			err = c.stanza(ctx, start, messages)
		}
		if err == nil {
			continue
		}
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			return cause
		}
		// The connection broke off within the stream.
		if cut, ok := errors.AsType[*xml.SyntaxError](err); errors.Is(err, io.EOF) || ok && cut.Msg == "unexpected EOF" {
			return errors.New("the server closed the connection")
		}
		return err
	}
}

// inbox passes messages to the hub: those of one chat one after the other, those of several chats
// in parallel, because fetching or transcribing a file takes time.
type inbox struct {
	c     *client
	wg    *crash.Group
	slots chan struct{} // a token for each message being processed
	chats wire.TicketLocks
}

// accept passes a message on. A panic is a failure of this message.
func (i *inbox) accept(ctx context.Context, in protocol.ChannelInboundParams) (err error) {
	defer crash.Recover(&err, "channel message", "channel", "xmpp")
	_, err = i.c.up.Inbound(ctx, in)
	return err
}

// put blocks while all slots are taken.
func (i *inbox) put(ctx context.Context, in protocol.ChannelInboundParams) error {
	select {
	case i.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	ticket := i.chats.Take(in.Peer.ID)
	i.wg.Go(func() {
		defer func() { <-i.slots }()
		ticket.Wait()
		defer ticket.Release()
		if ctx.Err() != nil {
			return
		}
		if err := i.accept(ctx, in); err != nil && ctx.Err() == nil {
			slog.Warn("Accepting a message from XMPP failed", "err", err)
			kind := "chat"
			if in.Peer.Kind != protocol.PeerDM {
				kind = "groupchat"
			}
			i.c.say(in.Peer.ID, kind, "I could not accept your last message. Please send it again later.")
		}
		i.c.welcome(in.Peer.ID) //nolint:errcheck // a connection that is gone says so to its reader
	})
	return nil
}

// say sends a text that is not the agent's, and does not wait for the server.
func (c *client) say(to, kind, text string) {
	c.s.send("<message to='" + esc(to) + "' type='" + kind + "'><body>" + text + "</body></message>")
}

// pings detects a dead connection.
func (c *client) pings(ctx context.Context, cancel context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingEvery):
		}
		limit, stop := context.WithTimeout(ctx, pingLimit)
		err := c.ask(limit, protocol.NewID(), "")
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			cancel(errors.New("the server no longer answers"))
			return
		}
		if err := c.joinRooms(); err != nil {
			cancel(err)
			return
		}
	}
}

// ask sends a stanza followed by a ping, and waits for the response. A server processes stanzas in
// order (RFC 6120, 10.1): when it answers the ping, it has accepted the stanza or returned an
// error.
func (c *client) ask(ctx context.Context, id, before string) error {
	q, err := c.await(ctx, before+"<iq type='get' id='p-"+id+"' to='"+esc(c.set.domain)+"'><ping xmlns='"+nsPing+"'/></iq>", id, "p-"+id)
	if err == nil && q.Type == refusedMessage {
		err = sendError(q.Error)
	}
	return err
}

// await sends a text and waits for the first response to one of the IDs in it.
func (c *client) await(ctx context.Context, text string, ids ...string) (iq, error) {
	answer := make(chan iq, len(ids))
	for _, id := range ids {
		c.waiters.Store(id, answer)
		defer c.waiters.Delete(id)
	}
	if err := c.s.send(text); err != nil {
		return iq{}, err
	}
	select {
	case q := <-answer:
		return q, nil
	case <-ctx.Done():
		return iq{}, context.Cause(ctx)
	}
}

// deliverAnswer passes a response to its waiter, once for each ID.
func (c *client) deliverAnswer(id string, q iq) {
	if answer, ok := c.waiters.LoadAndDelete(id); ok {
		answer.(chan iq) <- q
	}
}

// refusedMessage is the type of a response that is an error to a message instead of an iq.
const refusedMessage = "refused message"

// stanza handles one stanza.
func (c *client) stanza(ctx context.Context, start xml.StartElement, to *inbox) error {
	switch start.Name.Local {
	case "iq":
		return handle(c.s, start, c.iq)
	case "presence":
		return handle(c.s, start, c.presence)
	case "message":
		return handle(c.s, start, func(m message) error {
			if m.Type == "error" {
				c.deliverAnswer(m.ID, iq{Type: refusedMessage, Error: m.Error})
			} else if in, ok := c.inbound(m); ok {
				return to.put(ctx, in)
			}
			return nil
		})
	}
	return c.s.dec.Skip()
}

// handle decodes an element and passes it to f.
func handle[T any](s *stream, start xml.StartElement, f func(T) error) error {
	var v T
	if err := s.dec.DecodeElement(&v, &start); err != nil {
		return err
	}
	return f(v)
}

// sendError converts a refused message to an error: permanent, unless the server asks to wait.
func sendError(e *stanzaError) error {
	if e != nil && e.Type == "wait" {
		return errors.New(e.String())
	}
	return channel.NewRefusal("%s", e)
}

func (c *client) iq(q iq) error {
	switch q.Type {
	case "result", "error": // an error response to a ping also shows that the connection works
		c.deliverAnswer(q.ID, q)
		return nil
	case "get", "set":
	default:
		return nil
	}
	head := "<iq to='" + esc(q.From) + "' id='" + esc(q.ID) + "' type="
	switch {
	case q.Type == "get" && q.Ping != nil:
		return c.s.send(head + "'result'/>")
	case q.Type == "get" && q.Disco != nil && q.Disco.Node == "":
		known := []string{
			nsDisco, nsPing, nsStates, nsReceipt, nsReply, nsGeo, "jabber:x:oob", "urn:xmpp:sims:1", "urn:xmpp:sfs:0",
		}
		return c.s.send(head + "'result'><query xmlns='" + nsDisco + "'>" +
			"<identity category='client' type='bot' name='Fairlead'/>" +
			"<feature var='" + strings.Join(known, "'/><feature var='") + "'/></query></iq>")
	}
	return c.s.send(head + "'error'><error type='cancel'><service-unavailable xmlns='" + nsStanzas + "'/></error></iq>")
}
