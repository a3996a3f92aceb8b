package node

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// gateway is a fake gateway: it accepts nodes over memory and passes every request to the test.
type gateway struct {
	t     *testing.T
	links chan *link
	node  *Node
	quit  func() // stops the node in order
}

type link struct {
	t    *testing.T
	ws   *websocket.Conn
	mu   sync.Mutex // one writer
	got  chan protocol.Request
	data chan []byte // binary frames
	gone chan struct{}
}

func start(t *testing.T, change func(*Options)) *gateway {
	t.Helper()
	dial, listener := client.Memory()
	g := &gateway{t: t, links: make(chan *link, 16)}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		l := &link{t: t, ws: ws, got: make(chan protocol.Request, 64), data: make(chan []byte, 64), gone: make(chan struct{})}
		g.links <- l
		defer close(l.gone)
		for {
			kind, data, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.BinaryMessage {
				l.data <- data
				continue
			}
			frame, err := protocol.DecodeFrame(data)
			if err != nil {
				t.Error(err)
			} else if frame.Request != nil {
				l.got <- *frame.Request
			}
		}
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	opts := Options{ID: "laptop", Workspace: t.TempDir(), Dial: dial, LogDir: t.TempDir(), Version: "1.2.3", Token: "fl_secret"}
	if change != nil {
		change(&opts)
	}
	n, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	g.node = n
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	g.quit = sync.OnceFunc(func() {
		stop()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run: got %v, want error Canceled", err)
			}
		case <-time.After(3 * time.Minute):
			t.Error("Run does not return")
		}
	})
	t.Cleanup(g.quit)
	return g
}

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(3 * time.Minute):
		t.Fatal("nothing arrived: " + what)
		panic("unreachable")
	}
}

// accept takes the next connection through its handshake.
func (g *gateway) accept() (*link, protocol.ConnectParams) {
	g.t.Helper()
	l := receive(g.t, g.links, "a connection")
	req := receive(g.t, l.got, "connect")
	params := decode[protocol.ConnectParams](g.t, req.Params)
	if req.Method != protocol.Connect.Name {
		g.t.Fatalf("first request: got %s, want %s", req.Method, protocol.Connect.Name)
	}
	l.answer(req, protocol.ConnectResult{Type: protocol.HelloOK, Protocol: 1, Server: protocol.ServerInfo{Version: "9"}})
	return l, params
}

func decode[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("got %s, want JSON: %v", raw, err)
	}
	return v
}

func (l *link) write(data []byte, err error) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		err = l.ws.WriteMessage(websocket.TextMessage, data)
	}
	if err != nil {
		l.t.Error(err)
	}
}

func (l *link) answer(req protocol.Request, payload any) {
	l.t.Helper()
	l.write(protocol.EncodeResult(req.ID, payload))
}

func (l *link) send(event string, payload any) {
	l.t.Helper()
	l.write(protocol.EncodeEvent(event, payload, 0))
}

func (l *link) invoke(call, tool, args string) {
	l.t.Helper()
	l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: protocol.CallID(call), Tool: tool, Args: json.RawMessage(args)})
}

// next waits for a request of a method, confirming everything else.
func (l *link) next(method string) protocol.Request {
	l.t.Helper()
	for {
		req := receive(l.t, l.got, method)
		if req.Method == method {
			return req
		}
		l.answer(req, protocol.Ack{OK: true})
	}
}

// result waits for the next result and confirms it.
func (l *link) result() protocol.ToolResultParams {
	l.t.Helper()
	req := l.next(protocol.ReturnResult.Name)
	l.answer(req, protocol.Ack{OK: true})
	return decode[protocol.ToolResultParams](l.t, req.Params)
}
