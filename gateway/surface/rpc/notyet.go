package rpc

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// NotYet serves l while the gateway cannot: it answers every request, including connect, with the
// error that why returns, and other HTTP requests with status 503. It returns when ctx ends, after
// closing all connections; l stays open. l must support deadlines, as TCP listeners do.
func NotYet(ctx context.Context, l net.Listener, why func() *protocol.Error) {
	var up websocket.Upgrader // refuses pages of other sites
	var wg sync.WaitGroup
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" || !websocket.IsWebSocketUpgrade(r) {
			w.Header().Set("Retry-After", "5")
			http.Error(w, why().Message, http.StatusServiceUnavailable)
			return
		}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return // Upgrade has sent the response
		}
		wg.Add(1)
		defer wg.Done()
		defer ws.Close()
		defer context.AfterFunc(ctx, func() { ws.Close() })()
		ws.SetReadLimit(maxHandshake)
		// a refused peer closes the connection itself
		ws.SetReadDeadline(time.Now().Add(handshakeLimit))
		for {
			_, data, err := ws.ReadMessage()
			if err != nil {
				return
			}
			frame, err := protocol.DecodeFrame(data)
			if err != nil || frame.Request == nil {
				continue
			}
			out, err := protocol.EncodeError(frame.Request.ID, why())
			if err != nil || ws.WriteMessage(websocket.TextMessage, out) != nil {
				return
			}
		}
	}
	srv := httpServer(http.HandlerFunc(answer))
	lent := lentListener{Listener: l, deadline: func(time.Time) error { return errors.ErrUnsupported }}
	if d, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
		lent.deadline = d.SetDeadline
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(lent)
	}()
	<-ctx.Done()
	srv.Close()
	<-done
	wg.Wait()
	lent.deadline(time.Time{})
}

// lentListener ignores Close: when its server closes it, it only stops accepting.
type lentListener struct {
	net.Listener
	deadline func(time.Time) error
}

func (l lentListener) Close() error { return l.deadline(time.Unix(1, 0)) }
