package state

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// fake is a gateway whose answers the test defines.
type fake struct {
	t       *testing.T
	mu      sync.Mutex // guards the fields below, and writes
	snap    protocol.FeedSnapshot
	answers map[string]func(json.RawMessage) (any, error)
	calls   []call
	latency time.Duration // of every answer
	ws      *websocket.Conn
	seq     uint64
}

type call struct {
	method string
	params json.RawMessage
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (f *fake) serve(ws *websocket.Conn, r protocol.Request) {
	f.mu.Lock()
	f.calls = append(f.calls, call{r.Method, r.Params})
	answer, latency := f.answers[r.Method], f.latency
	f.mu.Unlock()
	time.Sleep(latency)
	var result any
	var err error
	switch {
	case answer != nil: // without the lock: it may block
		result, err = answer(r.Params)
	case r.Method == protocol.Connect.Name:
		result = protocol.ConnectResult{Type: protocol.HelloOK, Protocol: 1}
	case r.Method == protocol.StatusGet.Name:
		result = f.snap.Status
	case r.Method != protocol.FeedSubscribe.Name:
		result = struct{}{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method == protocol.FeedSubscribe.Name {
		f.ws, f.snap.Seq = ws, f.seq
		result = f.snap
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

// change sends changes to the client and waits until they have arrived.
func (f *fake) change(list ...protocol.Change) {
	f.mu.Lock()
	for _, c := range list {
		f.seq++
		frame, err := protocol.EncodeEvent(protocol.EventFeed, c, f.seq)
		if err != nil {
			f.t.Fatal(err)
		}
		f.ws.WriteMessage(websocket.TextMessage, frame)
	}
	f.mu.Unlock()
	synctest.Wait()
}

// cut closes the connection.
func (f *fake) cut() {
	f.mu.Lock()
	f.ws.Close()
	f.mu.Unlock()
	synctest.Wait()
}

// called returns the params of all calls of a method.
func (f *fake) called(method string) []json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []json.RawMessage
	for _, c := range f.calls {
		if c.method == method {
			list = append(list, c.params)
		}
	}
	return list
}

func on[P, R any](f *fake, m protocol.Method[P, R], answer func(P) (R, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[m.Name] = func(raw json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		return answer(p)
	}
}

// bubble runs a test against a fake gateway with a fake clock. setup may be nil.
func bubble(t *testing.T, setup func(*fake), body func(*testing.T, *App, *fake)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, answers: make(map[string]func(json.RawMessage) (any, error))}
		if setup != nil {
			setup(f)
		}
		dial, l := client.Memory()
		srv := &http.Server{Handler: f}
		a := NewApp()
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
		f.mu.Lock()
		if f.ws != nil {
			f.ws.Close()
		}
		f.mu.Unlock()
		srv.Close()
		wg.Wait()
	})
}

func text(seq int64, s string) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(s), Seq: seq, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(s)}}
}

func texts(list []protocol.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, m.Content.Text())
	}
	return strings.Join(out, " ")
}
