package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/process"
)

// connection returns the connection, or protocol.ErrUnavailable.
func (s *server) connection() (*mcp.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil || s.state != protocol.ServerReady && s.state != protocol.ServerStarting {
		text := fmt.Sprintf("the MCP server %s is not connected", s.name)
		if s.problem != "" {
			text += ": " + s.problem
		}
		return nil, protocol.ErrUnavailable.With(text)
	}
	return s.session, nil
}

// link is one connection to a server.
type link struct {
	*mcp.ClientSession
	drop context.CancelCauseFunc // ends it
}

// isLost reports whether the server did not get a call because its connection is lost, also if err
// only says that the server has forgotten the session.
func (l *link) isLost(err error) bool {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.isSessionLost {
		l.drop(errSessionLost)
		return true
	}
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, process.ErrNotSent)
}

var errNotReady error = protocol.ErrUnavailable.With("the MCP server is not ready")

// reconnectLimit is how long a call waits for a connection that was lost just now.
const reconnectLimit = 20 * time.Second

// await returns the connection of a server that is ready. If old was its connection and is lost,
// await waits a limited time for the next one, as it does for a server that starts.
func (s *server) await(ctx context.Context, old *link) (*link, error) {
	limit := time.NewTimer(reconnectLimit)
	defer limit.Stop()
	for {
		s.mu.Lock()
		now, state, changed := link{s.session, s.drop}, s.state, s.changed
		s.mu.Unlock()
		isNew := now.ClientSession != nil && (old == nil || now.ClientSession != old.ClientSession)
		switch {
		case isNew && state == protocol.ServerReady:
			return &now, nil
		case old == nil && state != protocol.ServerStarting && state != protocol.ServerReady:
			_, err := s.connection()
			return nil, cmp.Or(err, errNotReady)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-limit.C:
			_, err := s.connection()
			return nil, cmp.Or(err, errNotReady)
		}
	}
}
