package rpc

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// tcp serves the public surface on a real port.
func tcp(t testing.TB, f *fakes) (srv *Server, dial func(context.Context) (net.Conn, error)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, f, l), func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", l.Addr().String())
	}
}

// serveOn serves the public surface on l until the test ends.
func serveOn(t testing.TB, f *fakes, l net.Listener) *Server {
	srv := New(f.services())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(ctx, l, false); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		srv.Close()
		<-done
	})
	return srv
}

func TestTwoClientsAndANodeOverTCP(t *testing.T) {
	_, dial := tcp(t, newFakes())
	image := strings.Repeat("A", 4<<20)
	stopNode := connectNode(t, dial, "tower", func(inv protocol.ToolInvoke) protocol.ToolResultParams {
		switch string(inv.Args) {
		case `{"fail":true}`:
			return protocol.ToolResultParams{Error: "no such file"}
		case `{"image":true}`:
			return protocol.ToolResultParams{Result: fmt.Appendf(nil, "%q", image)}
		}
		return protocol.ToolResultParams{Result: inv.Args}
	})
	defer stopNode()
	var wg sync.WaitGroup
	for n := range 2 {
		c, stop := connect(t, dial, client.Options{})
		defer stop()
		for i := range 100 {
			wg.Go(func() {
				args := fmt.Appendf(nil, `{"i":%d}`, i)
				r, err := client.Call(t.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "tower__Echo", Args: args})
				if err != nil || string(r.Result) != string(args) {
					t.Errorf("call %d: got %s, error %v, want %s", i, r.Result, err, args)
				}
			})
		}
		if n > 0 {
			continue
		}
		wg.Go(func() {
			if _, err := client.Call(t.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "tower__Echo", Args: []byte(`{"fail":true}`)}); err == nil || err.Error() != "no such file" {
				t.Errorf("a failing call: got error %v, want no such file", err)
			}
			r, err := client.Call(t.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "tower__Echo", Args: []byte(`{"image":true}`)})
			if err != nil || len(r.Result) != len(image)+2 {
				t.Errorf("an image: got %d bytes, error %v, want %d", len(r.Result), err, len(image)+2)
			}
		})
	}
	wg.Wait()
}

func TestRefusedClientReadsWhyOverTCP(t *testing.T) {
	_, dial := tcp(t, newFakes())
	for range 20 { // the response must never be lost because of the close
		d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
		ws, _, err := d.Dial("ws://localhost/ws", http.Header{})
		if err != nil {
			t.Fatal(err)
		}
		ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"req","id":"1","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"}}}`))
		for range 20 { // its further requests are not read any more
			ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"req","id":"2","method":"status.get"}`))
		}
		_, data, err := ws.ReadMessage()
		if err != nil || !strings.Contains(string(data), `"code":401`) {
			t.Fatalf("got %s, error %v, want code 401", data, err)
		}
		for err == nil {
			_, _, err = ws.ReadMessage()
		}
		if !websocket.IsCloseError(err, protocol.CloseUnauthorized) {
			t.Fatalf("got %v, want a close for an unauthorized client", err)
		}
		ws.Close()
	}
}

func TestWhoSendsTooMuchReadsWhyOverTCP(t *testing.T) {
	_, dial := tcp(t, newFakes())
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	ws, _, err := d.Dial("ws://localhost/ws", http.Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"req","id":"1","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"},"auth":{"token":"right"}}}`))
	if _, data, err := ws.ReadMessage(); err != nil || !strings.Contains(string(data), "hello-ok") {
		t.Fatalf("got %s, error %v, want hello-ok", data, err)
	}
	// The whole message is sent before anything is read, as a simple client does.
	if err := ws.WriteMessage(websocket.TextMessage, make([]byte, protocol.MaxReadFrame+8<<20)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("got %v, want a close for a message that is too big", err)
	}
}
