package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/forward"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// tunnelBuffer is the size of the buffers of a connection for streams, in bytes: each message is
// written in one piece.
const tunnelBuffer = 64 << 10

func registerForwards(all methods, f *forward.Forwards) {
	handle(all, protocol.ForwardList, query(f.List))
	handle(all, protocol.ForwardClose, withAck(f.Close))
}

// tunnel serves a connection for streams (docs/protocol.md#tunnels) or of a viewer of a terminal: its
// first request says what it is and who the peer is, and then it carries nothing but streams or frames.
func (s *Server) tunnel(w http.ResponseWriter, r *http.Request, trusted *auth.Principal) {
	if !s.conns.workers.Begin() {
		http.Error(w, "the gateway stops", http.StatusServiceUnavailable)
		return
	}
	defer s.conns.workers.Done()
	upgrader := s.upgrader
	upgrader.ReadBufferSize, upgrader.WriteBufferSize, upgrader.WriteBufferPool = tunnelBuffer, tunnelBuffer, nil
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has sent the response
	}
	defer ws.Close()
	from, ok := originOf(r, trusted)
	if !ok {
		return
	}
	t := &tunnelRequest{server: s, http: r, ws: ws, from: from}
	defer crash.WhenDone(s.conns.workers.Context(), func() { ws.Close() })()
	t.serve(s.conns.workers.Context())
}

// tunnelRequest is the first request of a connection for streams.
type tunnelRequest struct {
	server *Server
	http   *http.Request
	ws     *websocket.Conn
	from   origin
	closed func() // removes the connection of a device; nil for others
}

func (t *tunnelRequest) serve(ctx context.Context) {
	t.ws.SetReadLimit(maxHandshake)
	t.ws.SetReadDeadline(time.Now().Add(handshakeLimit))
	_, data, err := t.ws.ReadMessage()
	if err != nil {
		return
	}
	frame, err := protocol.DecodeFrame(data)
	if err != nil || frame.Request == nil {
		return
	}
	defer func() {
		if t.closed != nil {
			t.closed()
		}
	}()
	result, run, err := t.answer(ctx, *frame.Request)
	text, failed := encodeResponse(frame.Request.ID, result, err)
	if failed == nil {
		t.ws.SetWriteDeadline(time.Now().Add(handshakeLimit))
		failed = t.ws.WriteMessage(websocket.TextMessage, text)
		t.ws.SetWriteDeadline(time.Time{})
	}
	if err != nil {
		return
	}
	if failed != nil {
		t.ws.Close()
	}
	run()
}

// answer returns the result of the request, and what serves the connection.
func (t *tunnelRequest) answer(ctx context.Context, r protocol.Request) (result []byte, run func(), err error) {
	defer crash.Recover(&err, r.Method)
	var payload any
	var serve func(net.Conn)
	isTerminal := t.http.URL.Path == "/"+protocol.TerminalPath
	switch {
	case r.Method == protocol.TerminalConnect.Name && isTerminal:
		payload, run, err = t.openTerminal(ctx, r)
	case r.Method == protocol.TunnelConnect.Name && !isTerminal:
		payload, serve, err = t.openTunnel(ctx, r)
	case r.Method == protocol.ForwardConnect.Name && !isTerminal:
		payload, serve, err = t.openForward(ctx, r)
	default:
		err = protocol.ErrNotFound.With(fmt.Sprintf("Unknown method: %.40q", r.Method))
	}
	if err == nil {
		result, err = protocol.EncodeResult(r.ID, payload)
	}
	if serve != nil {
		run = func() { serve(wire.NewConn(t.ws)) }
	}
	return result, run, err
}

func (t *tunnelRequest) openTunnel(ctx context.Context, r protocol.Request) (result any, run func(net.Conn), err error) {
	var p protocol.TunnelConnectParams
	if err := readParams(r, &p); err != nil {
		return nil, nil, err
	}
	if p.Client.Mode != protocol.ModeNode {
		return nil, nil, protocol.ErrForbidden.With("only a node has a tunnel")
	}
	if _, err := t.login(ctx, p.Client, p.Auth); err != nil {
		return nil, nil, err
	}
	run, err = t.server.services.Tunnels.Claim(protocol.NodeID(p.Client.ID), p.Ticket)
	return protocol.OK{OK: true}, run, err
}

func (t *tunnelRequest) openForward(ctx context.Context, r protocol.Request) (result any, run func(net.Conn), err error) {
	var p protocol.ForwardConnectParams
	if err := readParams(r, &p); err != nil {
		return nil, nil, err
	}
	if p.Client.Mode != protocol.ModeClient {
		return nil, nil, protocol.ErrForbidden.With("only a client or an app has forwards")
	}
	if err := checkID("Client id", p.Client.ID); err != nil {
		return nil, nil, err
	}
	who, err := t.login(ctx, p.Client, p.Auth)
	if err != nil {
		return nil, nil, err
	}
	p.Auth = nil // verified; the token is not retained
	from := t.from.remote
	if t.from.trusted != nil {
		from = ""
	}
	return t.server.services.Forwards.Open(ctx, who, from, p)
}

func readParams(r protocol.Request, into any) error {
	if err := protocol.Unmarshal(r.Params, into); err != nil {
		return protocol.ErrBadRequest.With(fmt.Sprintf("params of %s: %s", r.Method, protocol.Problem(err)))
	}
	return nil
}

// login returns who the peer is. The connection of a device closes with its pairing. An app
// authenticates with its token.
func (t *tunnelRequest) login(ctx context.Context, client protocol.ClientInfo, a *protocol.Auth) (auth.Principal, error) {
	services := &t.server.services
	who, err := t.server.authenticate(ctx, t.from, client, a)
	if errors.Is(err, protocol.ErrUnauthorized) && a != nil && a.Device == nil && client.Mode == protocol.ModeClient {
		if app, e := services.Programs.Verify(t.http, a.Token); e == nil && app.Kind == auth.KindApp {
			return app, nil
		}
	}
	if err != nil {
		t.server.refusals.add(t.from.remote, err)
		return who, err
	}
	if who.Device == "" {
		return who, nil
	}
	forget := t.server.conns.addTunnel(t.ws, who.Device)
	left, err := services.Devices.Connected(context.WithoutCancel(ctx), who.Device, t.from.remote)
	t.closed = func() {
		forget()
		if left != nil {
			left()
		}
	}
	if left == nil {
		return who, err
	}
	if err != nil {
		slog.Warn("The time of a device's connection could not be stored", "device", who.Device, "err", err)
	}
	return who, nil
}
