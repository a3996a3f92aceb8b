package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// OpenTunnel opens a connection for streams with the address and the credentials of a client
// (docs/protocol.md#tunnels). It sends the first request with the params that params
// returns for these credentials, and again with new ones if they were replaced. The caller closes the
// connection.
func OpenTunnel[P, R any](ctx context.Context, o Options, m protocol.Method[P, R], params func(protocol.ClientInfo, *protocol.Auth) P) (net.Conn, R, error) {
	ws, r, err := openFirst(ctx, o, protocol.TunnelPath, m, params)
	if err != nil {
		return nil, r, err
	}
	return wire.NewConn(ws), r, nil
}

// openFirst opens a connection at a path of the gateway and sends its first request.
func openFirst[P, R any](ctx context.Context, o Options, at string, m protocol.Method[P, R], params func(protocol.ClientInfo, *protocol.Auth) P) (*websocket.Conn, R, error) {
	ws, r, err := tryFirst(ctx, o, at, m, params)
	if errors.Is(err, protocol.ErrUnauthorized) && o.Refused != nil && o.Refused(ctx, err) == nil {
		return tryFirst(ctx, o, at, m, params)
	}
	return ws, r, err
}

func tryFirst[P, R any](ctx context.Context, o Options, at string, m protocol.Method[P, R], params func(protocol.ClientInfo, *protocol.Auth) P) (_ *websocket.Conn, r R, err error) {
	ws, err := o.dial(ctx, addressOf(o.URL, at), true)
	if err != nil {
		return nil, r, err
	}
	stop := crash.WhenDone(ctx, func() { ws.Close() })
	defer func() {
		if !stop() && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			ws.Close()
		}
	}()
	hello, err := o.connectParams(ws.NetConn())
	if err != nil {
		return nil, r, err
	}
	frame, err := protocol.EncodeRequest("1", m.Name, params(hello.Client, hello.Auth))
	if err != nil {
		return nil, r, err
	}
	ws.SetReadLimit(protocol.MaxReadFrame)
	ws.SetReadDeadline(time.Now().Add(handshakeLimit))
	if err = ws.WriteMessage(websocket.TextMessage, frame); err == nil {
		err = readResponse(ws, &r)
	}
	if err != nil {
		return nil, r, err
	}
	return ws, r, nil
}

// readResponse reads the response to the first request. Nothing behind it is read.
func readResponse(ws *websocket.Conn, into any) error {
	_, data, err := ws.ReadMessage()
	if err != nil {
		return endError(err)
	}
	frame, err := protocol.DecodeFrame(data)
	switch {
	case err != nil:
		return err
	case frame.Response == nil:
		return protocol.ErrBadRequest.With("the gateway sent something else than a response")
	case frame.Response.Error != nil:
		return frame.Response.Error
	}
	if err := protocol.Unmarshal(frame.Response.Payload, into); err != nil {
		return fmt.Errorf("read the response: %w", err)
	}
	return nil
}

// addressOf returns the address that belongs to a gateway's address and ends in another path.
func addressOf(gateway, at string) string {
	u, err := url.Parse(gateway)
	if err != nil {
		return gateway // Run refuses it, too
	}
	u.Path = path.Join("/", path.Dir(u.Path), at)
	return u.String()
}
