package xmpp

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/channel"
	"fairlead/gateway/peer/turn"
	"fairlead/gateway/protocol"
)

const (
	// pingEvery is how often a quiet connection is tried, pingLimit how long its answer may take.
	pingEvery = time.Minute
	pingLimit = 30 * time.Second
	// maxBody is how many bytes of text go into one message; a longer one is sent in parts.
	maxBody = 30_000
	// maxInbox is how many messages the hub is given at once. A server that brings more waits with its connection.
	maxInbox = 64
)

// client serves one connection.
type client struct {
	s   *stream
	set settings
	up  channel.Upstream

	mu      sync.Mutex // guards what follows
	rooms   map[string]*room
	answers map[string]chan error // by id of what was sent
	asked   map[string]chan iq    // by id of a question to the server
	share   string                // where files are put; empty until it was found
	web     string                // host and port from which the server gives files out; empty until it was found
	told    map[string]bool       // who was told that encrypted messages cannot be read
	wishes  map[string]bool       // who would see whether the agent is there and may not write to it yet
}

func newClient(s *stream, set settings, up channel.Upstream) *client {
	c := &client{s: s, set: set, up: up, rooms: make(map[string]*room), answers: make(map[string]chan error), asked: make(map[string]chan iq), told: make(map[string]bool), wishes: make(map[string]bool)}
	for _, r := range set.rooms {
		c.rooms[r] = &room{nick: set.nick, jids: make(map[string]string)}
	}
	return c
}

// serve reads until the connection ends.
func (c *client) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	stop := context.AfterFunc(ctx, func() {
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
	came := &inbox{c: c, wg: &wg, seats: make(chan struct{}, maxInbox)}
	if err := c.s.send("<presence/>"); err != nil {
		return err
	}
	if err := c.enter(); err != nil {
		return err
	}
	c.up.Online(transport{c}, map[string]any{"jid": bare(c.s.jid), "rooms": c.set.rooms})
	for {
		start, err := c.s.next()
		if err == nil {
			err = c.stanza(ctx, start, came)
		}
		if err == nil {
			continue
		}
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			return cause
		}
		if cut, ok := errors.AsType[*xml.SyntaxError](err); errors.Is(err, io.EOF) || ok && cut.Msg == "unexpected EOF" { // it was cut off in the middle of its stream
			return errors.New("the server ended the connection")
		}
		return err
	}
}

// inbox gives the hub what comes: of one chat one message after the other, those of others beside it, for one whose files are fetched or transcribed takes
// its time. Its goroutines are counted in wg.
type inbox struct {
	c     *client
	wg    *sync.WaitGroup
	seats chan struct{} // a token for each message under way
	chats turn.Queue
}

// put may wait for a seat.
func (i *inbox) put(ctx context.Context, in protocol.ChannelInboundParams) error {
	select {
	case i.seats <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	t := i.chats.Take(in.Peer.ID)
	i.wg.Go(func() {
		defer func() { <-i.seats }()
		t.Wait()
		defer t.End()
		if ctx.Err() != nil {
			return
		}
		if _, err := i.c.up.Inbound(ctx, in); err != nil && ctx.Err() == nil {
			slog.Warn("A message from XMPP was not taken", "err", err)
			i.c.refuse(in)
		}
		i.c.welcome(in.Peer.ID) //nolint:errcheck // a connection that is gone says so to its reader
	})
	return nil
}

// refuse tells somebody that their message was lost.
func (c *client) refuse(in protocol.ChannelInboundParams) {
	kind := "chat"
	if in.Peer.Kind != protocol.PeerDM {
		kind = "groupchat"
	}
	c.s.send("<message to='" + esc(in.Peer.ID) + "' type='" + kind + "'><body>I could not take your last message. Please send it again later.</body></message>")
}

// pings notices a connection that is dead.
func (c *client) pings(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		limit, stop := context.WithTimeout(ctx, pingLimit)
		err := c.ask(limit, protocol.NewID(), "")
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			cancel(errors.New("the server does not answer any more"))
			return
		}
		if err := c.enter(); err != nil {
			cancel(err)
			return
		}
	}
}

// ask sends something and a ping after it, and waits for what comes back. A server works on one client's stanzas in order (RFC 6120, 10.1): when it
// answers the ping, it has taken what came before, or has refused it by an error with the same id.
func (c *client) ask(ctx context.Context, id, before string) error {
	answer := make(chan error, 1)
	c.mu.Lock()
	c.answers[id], c.answers["p-"+id] = answer, answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.answers, id)
		delete(c.answers, "p-"+id)
		c.mu.Unlock()
	}()
	if err := c.s.send(before + "<iq type='get' id='p-" + id + "' to='" + esc(c.set.domain) + "'><ping xmlns='" + nsPing + "'/></iq>"); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answered gives what came back to whoever waits for it.
func (c *client) answered(id string, err error) {
	c.mu.Lock()
	answer := c.answers[id]
	delete(c.answers, id)
	c.mu.Unlock()
	select {
	case answer <- err: // never, when nobody waits
	default: // the other of the two was faster
	}
}
