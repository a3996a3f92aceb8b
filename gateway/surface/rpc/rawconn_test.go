package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// bench is a server on two in-memory listeners: one for everybody, one for the owner. stop stops
// everything.
type bench struct {
	*fakes
	srv    *Server
	public func(context.Context) (net.Conn, error)
	owner  func(context.Context) (net.Conn, error)
}

func open(f *fakes) (b *bench, stop func()) {
	b, end := openWith(f.services())
	b.fakes = f
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.transfers.Run(ctx)
	}()
	return b, func() {
		cancel()
		<-done
		f.transfers.Close()
		end()
	}
}

func openWith(s Services) (b *bench, stop func()) {
	b = &bench{srv: New(s)}
	var public, owner net.Listener
	b.public, public = client.Memory()
	b.owner, owner = client.Memory()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { b.srv.Serve(ctx, public, false) })
	wg.Go(func() { b.srv.Serve(ctx, owner, true) })
	return b, func() {
		cancel()
		b.srv.Close()
		wg.Wait()
	}
}

// rawConn is one peer of a conversation: it collects the received frames as lines.
type rawConn struct {
	ws       *websocket.Conn
	mu       sync.Mutex // guards the fields below
	received []string
}

func (b *bench) dial(name string) (*rawConn, error) {
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if strings.HasPrefix(name, "owner") {
			return b.owner(ctx)
		}
		return b.public(ctx)
	}}
	ws, _, err := d.Dial("ws://gateway/ws", nil)
	if err != nil {
		return nil, err
	}
	m := &rawConn{ws: ws}
	go m.listen()
	return m, nil
}

func (m *rawConn) listen() {
	for {
		kind, data, err := m.ws.ReadMessage()
		line := string(data)
		if kind == websocket.BinaryMessage {
			line = "hex " + hex.EncodeToString(data)
		}
		if err != nil {
			line = "end"
			var closed *websocket.CloseError
			if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
				line = fmt.Sprintf("close %d %s", closed.Code, closed.Text)
			}
			m.ws.Close()
		}
		m.mu.Lock()
		m.received = append(m.received, line)
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (m *rawConn) takeReceived() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.received = nil }()
	return m.received
}

func sendLine(t *testing.T, m *rawConn, line string) {
	kind, data := websocket.TextMessage, []byte(line)
	if h, ok := strings.CutPrefix(line, "hex "); ok {
		raw, err := hex.DecodeString(h)
		if err != nil {
			t.Fatal(err)
		}
		kind, data = websocket.BinaryMessage, raw
	}
	if err := m.ws.WriteMessage(kind, data); err != nil {
		t.Errorf("send %s: %v", line, err)
	}
}

func publish(t *testing.T, b *bench, line string) {
	var c struct {
		protocol.Change
		Chat *protocol.ChatEvent `json:"chat"`
	}
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if c.Chat != nil {
		c.Change = protocol.Change{Kind: protocol.ChangeChat, Chat: c.Chat}
	}
	b.bus.Publish(c.Change)
}
