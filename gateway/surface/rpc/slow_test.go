package rpc

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// pipes is a listener of unbuffered connections: a writer waits for the reader.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A peer that sends a ping, and then cannot read for a while, keeps its connection.
func TestPeerThatIsSlowToReadKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := New(newFakes().services())
		l := &pipes{conns: make(chan net.Conn)}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { srv.Serve(ctx, l, true) })
		defer wg.Wait()
		defer cancel()
		defer srv.Close()
		d := websocket.Dialer{NetDialContext: l.dial}
		ws, _, err := d.Dial("ws://gateway/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		say := func(line string) {
			t.Helper()
			if err := ws.WriteMessage(websocket.TextMessage, []byte(line)); err != nil {
				t.Fatalf("send %s: %v", line, err)
			}
		}
		hear := func(id string) {
			t.Helper()
			for {
				_, data, err := ws.ReadMessage()
				if err != nil {
					t.Fatalf("the answer %s: %v", id, err)
				}
				if strings.Contains(string(data), `"id":"`+id+`"`) {
					return
				}
			}
		}
		say(`{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"}}}`)
		hear("c")
		ponged := ""
		ws.SetPongHandler(func(payload string) error { ponged = payload; return nil })
		if err := ws.WriteControl(websocket.PingMessage, []byte("there?"), time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		say(`{"type":"req","id":"s","method":"status.get"}`)
		hear("s")
		if ponged != "there?" {
			t.Errorf("got pong %q, want there?", ponged)
		}
	})
}
