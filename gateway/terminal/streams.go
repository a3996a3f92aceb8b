package terminal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
)

// openLimit is how long a machine may take to open or to close a terminal.
const openLimit = 30 * time.Second

// Dialer opens streams to machines.
type Dialer interface {
	Dial(ctx context.Context, node protocol.NodeID, h protocol.StreamHeader) (net.Conn, error)
}

// streams are the streams to machines for their terminals.
type streams struct{ Dialer }

// request sends a machine a request that is answered with an end.
func (s streams) request(ctx context.Context, node protocol.NodeID, r protocol.TerminalRequest) error {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	conn, err := s.dial(ctx, node, r)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(openLimit))
	kind, body, err := tunnel.ReadFrame(conn, protocol.MaxTerminalFrame)
	var end protocol.TerminalEnd
	if err == nil && kind == protocol.TerminalEnded {
		err = protocol.Unmarshal(body, &end)
	}
	switch {
	case err != nil:
		return protocol.ErrUnavailable.With(fmt.Sprintf("%s did not answer: %v", node, err))
	case end.Error != "":
		return protocol.ErrBadRequest.With(fmt.Sprintf("%s: %s", node, cut(end.Error)))
	}
	return nil
}

// dial opens a stream to a machine and sends its request.
func (s streams) dial(ctx context.Context, node protocol.NodeID, r protocol.TerminalRequest) (net.Conn, error) {
	conn, err := s.Dialer.Dial(ctx, node, protocol.StreamHeader{Kind: protocol.StreamPTY})
	if err != nil {
		if e, ok := errors.AsType[*tunnel.Error](err); ok {
			err = protocol.ErrUnavailable.With(fmt.Sprintf("%s: %s", node, e.Message))
		}
		return nil, err
	}
	if err := tunnel.WriteFrame(conn, protocol.TerminalRequested, protocol.Encode(r)); err != nil {
		conn.Close()
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf("%s lost its connection: %v", node, err))
	}
	return conn, nil
}
