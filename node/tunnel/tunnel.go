// Package tunnel is a machine's side of its tunnel: it opens the tunnel when the gateway asks for it,
// and decides what it dials for the gateway's streams.
package tunnel

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
)

// Node is the tunnel of a machine. It is safe for concurrent use.
type Node struct {
	// Connect opens the connection of a tunnel that the gateway asked for.
	Connect func(ctx context.Context, ticket string) (net.Conn, error)
	Targets *Targets
	// Terminal returns the machine's side of a stream that shows a terminal.
	Terminal func() (net.Conn, error)
	Log      *slog.Logger

	mu  sync.Mutex // guards end
	end context.CancelFunc
}

// Open opens a tunnel and serves it until it is closed, the gateway asks for another one, or ctx ends.
func (n *Node) Open(ctx context.Context, ticket string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.mu.Lock()
	if n.end != nil {
		n.end() // the gateway does not use the earlier one any more
	}
	n.end = cancel
	n.mu.Unlock()
	conn, err := n.Connect(ctx, ticket)
	if err != nil {
		n.Log.Warn("The tunnel could not be opened", "err", err)
		return
	}
	n.Log.Info("Tunnel opened")
	err = tunnel.NewAcceptor(conn).Serve(ctx, n.dial)
	n.Log.Info("Tunnel closed", "why", err)
}

func (n *Node) dial(ctx context.Context, h protocol.StreamHeader) (net.Conn, error) {
	switch h.Kind {
	case protocol.StreamTCP, protocol.StreamHTTP:
	case protocol.StreamPTY:
		return n.Terminal()
	default:
		return nil, tunnel.ErrUnsupported.With(fmt.Sprintf("this machine does not support streams of the kind %.20q", h.Kind))
	}
	conn, err := n.Targets.Dial(ctx, h.Target)
	n.Log.Info("Stream", "kind", h.Kind, "service", h.Service, "target", h.Target, "err", err)
	return conn, err
}
