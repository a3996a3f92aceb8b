package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/trust"
)

// pairLimit is how long a pairing waits for one message: the person over there has five minutes at most.
const pairLimit = 6 * time.Minute

// Pair pairs this device with the gateway at addresses (host:port). For a link the pin is checked before anything is sent, for a code the two
// ends prove to each other that they know it, and otherwise the caller must have the words compared before it keeps what it gets. Gateway.Pin of the
// result is set also with an error, once a machine has answered.
func Pair(ctx context.Context, addresses []string, t trust.Taker) (trust.Done, error) {
	pin := t.Pin
	if t.Link != nil {
		pin = t.Link.Pin
	}
	conn, got, err := trust.Dial(ctx, addresses, pin)
	if err != nil {
		return trust.Done{}, err
	}
	t.Pin = got
	ws, err := upgrade(ctx, conn, trust.Path)
	if err != nil {
		return trust.Done{}, err
	}
	defer ws.Close()
	stop := context.AfterFunc(ctx, func() { ws.Close() })
	defer stop()
	ws.SetReadLimit(trust.MaxMessage)
	done, err := t.Run(pairWire{ws})
	done.Gateway.Pin = got
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if len(done.Gateway.Addresses) == 0 {
		done.Gateway.Addresses = addresses
	}
	return done, err
}

// upgrade makes a WebSocket of a connection, which it closes when that fails.
func upgrade(ctx context.Context, conn net.Conn, path string) (*websocket.Conn, error) {
	d := websocket.Dialer{HandshakeTimeout: handshakeLimit, NetDialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	ws, resp, err := d.DialContext(ctx, "ws://fairlead"+path, nil)
	if err == nil {
		return ws, nil
	}
	conn.Close()
	if resp != nil && resp.StatusCode == http.StatusTooManyRequests {
		return nil, protocol.ErrUnavailable.With("the gateway is pairing too many devices: try again in a minute")
	}
	return nil, protocol.ErrUnavailable.With(fmt.Sprintf("the machine that answers is no Fairlead gateway of this version: %v", err))
}

type pairWire struct{ ws *websocket.Conn }

func (p pairWire) Send(m trust.Message) error {
	p.ws.SetWriteDeadline(time.Now().Add(handshakeLimit))
	if err := p.ws.WriteJSON(m); err != nil {
		return protocol.ErrUnavailable.With(fmt.Sprintf("the connection was lost while pairing: %v", err))
	}
	return nil
}

func (p pairWire) Receive() (trust.Message, error) {
	p.ws.SetReadDeadline(time.Now().Add(pairLimit))
	_, data, err := p.ws.ReadMessage()
	if err != nil {
		return trust.Message{}, protocol.ErrUnavailable.With(fmt.Sprintf("the connection was lost while pairing: %v", err))
	}
	return trust.DecodeMessage(data)
}

// Through completes options for the gateway of a pairing: it reaches it by its pin, proves each session with the device's key, fetches a new
// token when the old one was replaced, and notes when the pairing is over. find, which may be nil, looks for the gateway when none of its
// known addresses answers.
func Through(o Options, peers *trust.Peers, pin trust.Pin, id trust.Identity, find func(context.Context, trust.Pin) []string) Options {
	o.URL = "ws://fairlead/ws"
	addresses := func(ctx context.Context) ([]string, error) {
		p, err := peers.Get(pin)
		switch {
		case errors.Is(err, protocol.ErrNotFound):
			return nil, &FinalError{err}
		case err == nil && p.LeftAt > 0:
			tellLeft(ctx, peers, pin, id, find) // else another time
			return nil, errLeft(p.Name)
		}
		return p.Addresses, err
	}
	o.Dial = func(ctx context.Context) (net.Conn, error) {
		list, err := addresses(ctx)
		if err != nil {
			return nil, err
		}
		conn, _, err := trust.Dial(ctx, list, pin)
		if err == nil || find == nil || ctx.Err() != nil {
			if err != nil {
				return nil, err
			}
			return conn, nil
		}
		found := find(ctx, pin)
		if len(found) == 0 {
			return nil, err
		}
		if conn, _, err = trust.Dial(ctx, found, pin); err != nil {
			return nil, err
		}
		return conn, peers.Moved(pin, found)
	}
	o.Auth = func(conn net.Conn) (*protocol.Auth, error) {
		secured, ok := conn.(*tls.Conn)
		if !ok {
			return nil, errors.New("the connection is not TLS")
		}
		binding, err := trust.Binding(secured.ConnectionState())
		if err != nil {
			return nil, err
		}
		token, err := peers.Token(pin)
		if err != nil {
			return nil, err
		}
		return &protocol.Auth{Token: token, Device: &protocol.DeviceProof{ID: id.ID(), Signature: id.Sign(trust.ForConnect, binding)}}, nil
	}
	o.Refused = func(ctx context.Context, err error) error {
		if !errors.Is(err, protocol.ErrUnauthorized) {
			return err
		}
		why := refusal(err)
		if why.Reason == "" || why.Reason == protocol.RefusedRotated { // the key brings a new token, or the reason why there is none
			list, e := addresses(ctx)
			if e != nil {
				return e
			}
			done, e := Pair(ctx, list, trust.Taker{Identity: id, Pin: pin, Renew: true})
			if e == nil {
				return peers.Renewed(pin, done)
			}
			if why = refusal(e); why.Reason == "" {
				return e
			}
			err = e
		}
		if e := peers.Ended(pin, why); e != nil {
			return errors.Join(err, e)
		}
		return err
	}
	return o
}

// refusal is what a gateway says of a device that it does not let in; zero when it says nothing.
func refusal(err error) (why protocol.DeviceRefused) {
	var e *protocol.Error
	if errors.As(err, &e) && json.Unmarshal(e.Details, &why) != nil {
		return protocol.DeviceRefused{}
	}
	return why
}
