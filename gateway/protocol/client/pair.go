package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// pairLimit is the maximum wait for one message; the person at the gateway has five minutes.
const pairLimit = 6 * time.Minute

// Pair pairs this device with the gateway at addresses (host:port). With a link, the pin is checked
// before anything is sent. With a code, both sides prove that they know it. Otherwise the caller
// must have the words compared before it stores the result. Gateway.Pin of the result is set even
// with an error, once a machine has answered.
func Pair(ctx context.Context, addresses []string, device pake.Device) (identity.Pairing, error) {
	pin := device.Pin
	if device.Link != nil {
		pin = device.Link.Pin
	}
	conn, got, err := identity.Dial(ctx, addresses, pin)
	if errors.Is(err, protocol.ErrUnavailable) && !device.Renew && !device.End {
		err = protocol.ErrUnavailable.With(protocol.AsError(err).Message + ". Check on the gateway's computer that other machines can connect, and at which address")
	}
	if err != nil {
		return identity.Pairing{}, err
	}
	device.Pin = got
	ws, err := upgrade(ctx, conn, pake.Path)
	if err != nil {
		return identity.Pairing{}, err
	}
	defer ws.Close()
	stop := crash.WhenDone(ctx, func() { ws.Close() })
	defer stop()
	ws.SetReadLimit(pake.MaxMessage)
	done, err := device.Run(pairTransport{ws})
	done.Gateway.Pin = got
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if len(done.Gateway.Addresses) == 0 {
		done.Gateway.Addresses = addresses
	}
	return done, err
}

// upgrade upgrades a connection to a WebSocket, and closes it if that fails.
func upgrade(ctx context.Context, conn net.Conn, path string) (*websocket.Conn, error) {
	d := websocket.Dialer{HandshakeTimeout: handshakeLimit, NetDialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	ws, resp, err := d.DialContext(ctx, "ws://fairlead"+path, nil)
	if err == nil {
		return ws, nil
	}
	conn.Close()
	if resp != nil && resp.StatusCode == http.StatusTooManyRequests {
		return nil, protocol.ErrUnavailable.With("the gateway is busy pairing other devices: try again in a minute")
	}
	return nil, protocol.ErrUnavailable.With(fmt.Sprintf("no compatible Fairlead gateway at this address: %v", err))
}

type pairTransport struct{ ws *websocket.Conn }

func (p pairTransport) Send(m pake.Message) error {
	p.ws.SetWriteDeadline(time.Now().Add(handshakeLimit))
	if err := p.ws.WriteJSON(m); err != nil {
		return protocol.ErrUnavailable.With(fmt.Sprintf("the connection was lost while pairing: %v", err))
	}
	return nil
}

func (p pairTransport) Receive() (pake.Message, error) {
	p.ws.SetReadDeadline(time.Now().Add(pairLimit))
	_, data, err := p.ws.ReadMessage()
	if err != nil {
		return pake.Message{}, protocol.ErrUnavailable.With(fmt.Sprintf("the connection was lost while pairing: %v", err))
	}
	return pake.DecodeMessage(data)
}
