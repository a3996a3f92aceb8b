package channeltest

import (
	"context"
	"errors"
	"sync"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// Pigeon is a channel without a network that records what is sent. The key "wrong" cannot log in,
// the loft "away" is unreachable, and the loft "qr" requires a QR code. A peer "wall" refuses every
// message, a peer "rain" fails the first two times, and the first message to a peer "hawk" panics.
type Pigeon struct {
	mu    sync.Mutex // guards the fields below
	up    map[string]*channel.Upstream
	sent  []protocol.ChannelOutbound
	rain  int
	hawk  int
	typed []protocol.ChannelTyping
	out   []string
	drop  map[string]context.CancelCauseFunc
}

// NewPigeon returns the channel.
func NewPigeon() *Pigeon {
	return &Pigeon{up: map[string]*channel.Upstream{}, drop: map[string]context.CancelCauseFunc{}}
}

// Kind implements channel.Driver.
func (p *Pigeon) Kind() protocol.ChannelKind {
	return protocol.ChannelKind{Channel: "pigeon", Title: "Pigeon post", Fields: []protocol.ChannelField{
		{Name: "loft", Title: "Loft", Required: true}, {Name: "key", Title: "Key of the loft", Required: true, Secret: true},
	}}
}

// Check implements channel.Driver.
func (p *Pigeon) Check(c channel.Config) error {
	if c.Text("loft") == "" {
		return errors.New("loft must be a text")
	}
	return nil
}

// Connect implements channel.Driver.
func (p *Pigeon) Connect(ctx context.Context, a channel.Account, up *channel.Upstream) error {
	if err := check(a); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.mu.Lock()
	p.up[a.ID], p.drop[a.ID] = up, cancel
	p.mu.Unlock()
	up.Online(pigeonTransport{p}, map[string]any{"loft": a.Config.Text("loft")})
	<-ctx.Done()
	p.mu.Lock()
	delete(p.up, a.ID)
	p.mu.Unlock()
	return context.Cause(ctx)
}

func check(a channel.Account) error {
	switch {
	case a.Config.Text("key") == "wrong":
		return channel.Login("the key does not fit")
	case a.Config.Text("loft") == "away":
		return errors.New("nobody is at the loft")
	}
	return nil
}

// Login implements channel.Driver.
func (p *Pigeon) Login(_ context.Context, a channel.Account, _ bool) (channel.LoginResult, error) {
	if a.Config.Text("loft") == "qr" {
		return channel.LoginResult{QRDataURL: "data:image/png;base64,AA==", Message: "Scan this."}, nil
	}
	return channel.LoginResult{Message: "The key fits."}, check(a)
}

// Logout implements channel.Driver.
func (p *Pigeon) Logout(_ context.Context, a channel.Account) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = append(p.out, a.ID+" "+a.Config.Text("key"))
	return nil
}

// Up returns the account's connection, or nil.
func (p *Pigeon) Up(account string) *channel.Upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up[account]
}

// Drop closes an account's connection from outside.
func (p *Pigeon) Drop(account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop[account](errors.New("a hawk"))
}

// Sent returns the messages sent so far.
func (p *Pigeon) Sent() []protocol.ChannelOutbound {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]protocol.ChannelOutbound(nil), p.sent...)
}

// LoggedOut lists the accounts that were logged out, with their keys.
func (p *Pigeon) LoggedOut() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.out...)
}

// Typed returns the typing events so far.
func (p *Pigeon) Typed() []protocol.ChannelTyping {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]protocol.ChannelTyping(nil), p.typed...)
}

type pigeonTransport struct{ p *Pigeon }

func (w pigeonTransport) Send(_ context.Context, m protocol.ChannelOutbound) (string, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	switch m.Peer.ID {
	case "wall":
		return "", channel.NewRefusal("there is a wall")
	case "rain":
		if w.p.rain++; w.p.rain <= 2 {
			return "", errors.New("it rains")
		}
	}
	if m.Peer.ID == "hawk" {
		if w.p.hawk++; w.p.hawk == 1 {
			panic("a hawk")
		}
	}
	w.p.sent = append(w.p.sent, m)
	return "p" + m.Message.Text[:1], nil
}

func (w pigeonTransport) Typing(_ context.Context, t protocol.ChannelTyping) error {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.p.typed = append(w.p.typed, t)
	return nil
}
