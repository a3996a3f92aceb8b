package client

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// peer is a gateway that a test controls.
type peer struct {
	*websocket.Conn
	t *testing.T
}

// listen serves connections with f, one after the other, numbered from 1. stop closes everything.
func listen(t *testing.T, f func(p peer, n int)) (dial func(context.Context) (net.Conn, error), stop func()) {
	dial, l := Memory()
	conns := make(chan int, 1)
	conns <- 1
	var up websocket.Upgrader
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		n := <-conns
		conns <- n + 1
		f(peer{ws, t}, n)
	})}
	done := make(chan struct{})
	go func() {
		srv.Serve(l)
		close(done)
	}()
	return dial, func() {
		srv.Close()
		<-done
	}
}

// request reads the next request; ok is false when the connection has ended.
func (p peer) request() (r protocol.Request, ok bool) {
	for {
		_, data, err := p.ReadMessage()
		if err != nil {
			return r, false
		}
		f, err := protocol.DecodeFrame(data)
		if err != nil || f.Request == nil {
			p.t.Errorf("client sent %s: %v; want no error", data, err)
			continue
		}
		return *f.Request, true
	}
}

func (p peer) answer(id string, result any) {
	frame, err := protocol.EncodeResult(id, result)
	if err != nil {
		p.t.Error(err)
	}
	p.WriteMessage(websocket.TextMessage, frame)
}

func (p peer) refuse(id string, e error) {
	frame, err := protocol.EncodeError(id, e)
	if err != nil {
		p.t.Error(err)
	}
	p.WriteMessage(websocket.TextMessage, frame)
}

func (p peer) event(name string, payload any, seq uint64) {
	frame, err := protocol.EncodeEvent(name, payload, seq)
	if err != nil {
		p.t.Error(err)
	}
	p.WriteMessage(websocket.TextMessage, frame)
}

func (p peer) close(code int, reason string) {
	p.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Second))
}

// hello accepts the handshake.
func (p peer) hello() {
	r, ok := p.request()
	if !ok {
		return
	}
	if r.Method != protocol.Connect.Name {
		p.t.Errorf("the first request is %s, want connect", r.Method)
	}
	p.answer(r.ID, protocol.ConnectResult{Type: protocol.HelloOK, Protocol: 1})
}

// idle reads until the connection ends. It answers pings although the client may be slow to read
// the answers.
func (p peer) idle() {
	p.SetPingHandler(func(payload string) error {
		go p.WriteControl(websocket.PongMessage, []byte(payload), time.Now().Add(time.Hour))
		return nil
	})
	for {
		if _, _, err := p.ReadMessage(); err != nil {
			return
		}
	}
}

func hello() protocol.ConnectParams {
	return protocol.ConnectParams{MinProtocol: 1, Client: protocol.ClientInfo{ID: "test", Mode: protocol.ModeClient}}
}

// start runs a client and returns it with a function that stops it and returns Run's error.
func start(t *testing.T, o Options) (*Client, func() error) {
	if o.Connect == nil {
		o.Connect = hello
	}
	o.URL = "ws://memory/ws"
	c := New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return c, func() error {
		cancel()
		return <-done
	}
}
