// Package feedtest is a gateway whose answers a test defines, for the tests of view models.
package feedtest

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Gateway is a gateway whose answers the test defines.
type Gateway struct {
	t        *testing.T
	Mu       sync.Mutex // guards the fields below, and writes
	Snapshot protocol.FeedSnapshot
	Answers  map[string]func(json.RawMessage) (any, error)
	calls    []call
	Latency  time.Duration // of every answer
	ws       *websocket.Conn
	seq      uint64
}

type call struct {
	method string
	params json.RawMessage
}

func (f *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	defer ws.Close()
	for {
		_, data, err := ws.ReadMessage()
		if err != nil {
			return
		}
		frame, err := protocol.DecodeFrame(data)
		if err != nil || frame.Request == nil {
			f.t.Errorf("the client sent %s (%v)", data, err)
			continue
		}
		go f.serve(ws, *frame.Request)
	}
}

func (f *Gateway) serve(ws *websocket.Conn, r protocol.Request) {
	f.Mu.Lock()
	f.calls = append(f.calls, call{r.Method, r.Params})
	answer, latency := f.Answers[r.Method], f.Latency
	f.Mu.Unlock()
	time.Sleep(latency)
	var result any
	var err error
	switch {
	case answer != nil: // without the lock: it may block
		result, err = answer(r.Params)
	case r.Method == protocol.Connect.Name:
		result = protocol.ConnectResult{Type: protocol.HelloOK, Protocol: 1}
	case r.Method == protocol.StatusGet.Name:
		result = f.Snapshot.Status
	case r.Method != protocol.FeedSubscribe.Name:
		result = struct{}{}
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if r.Method == protocol.FeedSubscribe.Name {
		f.ws, f.Snapshot.Seq = ws, f.seq
		result = f.Snapshot
	}
	var frame []byte
	if err != nil {
		frame, err = protocol.EncodeError(r.ID, err)
	} else {
		frame, err = protocol.EncodeResult(r.ID, result)
	}
	if err != nil {
		f.t.Error(err)
	}
	ws.WriteMessage(websocket.TextMessage, frame)
}

// Change sends changes to the client and waits until they have arrived.
func (f *Gateway) Change(list ...protocol.Change) {
	f.Mu.Lock()
	for _, c := range list {
		f.seq++
		frame, err := protocol.EncodeEvent(protocol.EventFeed, c, f.seq)
		if err != nil {
			f.t.Fatal(err)
		}
		f.ws.WriteMessage(websocket.TextMessage, frame)
	}
	f.Mu.Unlock()
	synctest.Wait()
}

// Cut closes the connection.
func (f *Gateway) Cut() {
	f.Mu.Lock()
	f.ws.Close()
	f.Mu.Unlock()
	synctest.Wait()
}

// Called returns the params of all calls of a method.
func (f *Gateway) Called(method string) []json.RawMessage {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var list []json.RawMessage
	for _, c := range f.calls {
		if c.method == method {
			list = append(list, c.params)
		}
	}
	return list
}

func On[P, R any](f *Gateway, m protocol.Method[P, R], answer func(P) (R, error)) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Answers[m.Name] = func(raw json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		return answer(p)
	}
}

// Client is the part of a feed that a test starts and stops.
type Client interface {
	Use(*client.Client)
	Run(ctx context.Context) error
	Connected()
	Down(err error)
	Close()
}

// Run runs a test of a client against a fake gateway with a fake clock. setup may be nil.
func Run[C Client](t *testing.T, create func() C, setup func(*Gateway), body func(*testing.T, C, *Gateway)) {
	synctest.Test(t, func(t *testing.T) {
		f := &Gateway{t: t, Answers: make(map[string]func(json.RawMessage) (any, error))}
		if setup != nil {
			setup(f)
		}
		dial, l := client.Memory()
		srv := &http.Server{Handler: f}
		a := create()
		c := client.New(client.Options{
			URL: "ws://memory/ws", Dial: dial, OnDown: a.Down,
			Connect: func() protocol.ConnectParams { return protocol.ConnectParams{MinProtocol: 1, MaxProtocol: 1} },
			OnUp:    func(context.Context, protocol.ConnectResult) { a.Connected() },
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { srv.Serve(l) })
		wg.Go(func() { c.Run(ctx) })
		a.Use(c)
		wg.Go(func() { a.Run(ctx) })
		synctest.Wait()
		body(t, a, f)
		a.Close()
		cancel()
		f.Mu.Lock()
		if f.ws != nil {
			f.ws.Close()
		}
		f.Mu.Unlock()
		srv.Close()
		wg.Wait()
	})
}
