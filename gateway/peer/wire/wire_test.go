package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// pair returns both sides of a WebSocket connection over Sockets.
func pair(t *testing.T) (near, far *websocket.Conn) {
	t.Helper()
	return over(t, Wrap)
}

// over returns both sides of a WebSocket connection over wrapped TCP.
func over(t *testing.T, wrap func(net.Conn) net.Conn) (near, far *websocket.Conn) {
	t.Helper()
	got := make(chan *websocket.Conn, 1)
	var up websocket.Upgrader
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		got <- ws
	}))
	srv.Listener = Listener{Listener: srv.Listener}
	srv.Start()
	dialer := websocket.Dialer{NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wrap(c), nil
	}}
	near, _, err := dialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	far = <-got
	t.Cleanup(func() { near.Close(); far.Close(); srv.Close() })
	return near, far
}

func TestFramesOfOneSenderKeepTheirOrder(t *testing.T) {
	t.Run("socket", func(t *testing.T) { keepsOrder(t, Wrap) })
	t.Run("any connection", func(t *testing.T) { keepsOrder(t, func(c net.Conn) net.Conn { return struct{ net.Conn }{c} }) })
	t.Run("one that takes a byte at once", func(t *testing.T) {
		keepsOrder(t, func(c net.Conn) net.Conn {
			s := NewSocket(c)
			s.try = func(b []byte) (int, error) { return c.Write(b[:min(1, len(b))]) }
			return s
		})
	})
	t.Run("one that takes nothing at once", func(t *testing.T) {
		keepsOrder(t, func(c net.Conn) net.Conn {
			s := NewSocket(c)
			s.try = nil
			return s
		})
	})
}

func keepsOrder(t *testing.T, wrap func(net.Conn) net.Conn) {
	near, far := over(t, wrap)
	w := NewWriter(near)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { w.Run(ctx, time.Hour, func() {}) })
	const senders, each = 8, 500
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("%d %d ", s, i)
				if i%50 == 0 {
					text += strings.Repeat("x", maxDirect) // too large to be written by the sender
				}
				how := []func([]byte) bool{w.Offer, w.Hold, w.SendSoon, func([]byte) bool { return false }}[(s+i)%4]
				send := w.Send
				if i%8 > 3 {
					send = w.SendAmong
				}
				if !how([]byte(text)) && !send(ctx, []byte(text)) {
					t.Error("not sent")
				}
				if (s+i)%4 == 1 {
					w.Flush()
				}
			}
		})
	}
	next := make([]int, senders)
	for range senders * each {
		data, err := Receive(far, func() {}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var s, i int
		fmt.Sscan(string(data), &s, &i)
		if i != next[s] {
			t.Fatalf("sender %d: frame %d came where %d was due", s, i, next[s])
		}
		next[s]++
	}
	cancel()
	wg.Wait()
}

func TestCloseComesAfterWhatWasSentAndNothingAfterIt(t *testing.T) {
	near, far := pair(t)
	w := NewWriter(near)
	for i := range 10 {
		if !w.Send(t.Context(), []byte(fmt.Sprint(i))) {
			t.Fatal(i)
		}
	}
	w.Close(t.Context(), websocket.CloseGoingAway, "bye")
	var closing bool
	if !w.Run(t.Context(), time.Hour, func() { closing = true }) || !closing {
		t.Error("the close was not sent")
	}
	sent := 0
	for ; sent < 1000 && w.Send(t.Context(), []byte("late")); sent++ {
	}
	if sent == 1000 {
		t.Error("a closed writer takes frames for ever")
	}
	for i := range 10 {
		if data, err := Receive(far, func() {}, nil); err != nil || string(data) != fmt.Sprint(i) {
			t.Fatal(string(data), err)
		}
	}
	if _, err := Receive(far, func() {}, nil); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Error(err)
	}
}

func TestSenderOfAFullConnectionLeavesWithItsContext(t *testing.T) {
	near, _ := pair(t) // the far side does not read
	w := NewWriter(near)
	run, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { w.Run(run, time.Hour, func() {}) })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for w.Send(ctx, make([]byte, 1<<20)) {
	}
	if ctx.Err() == nil {
		t.Error("the sender left before its context")
	}
	near.Close()
	stop()
	wg.Wait()
}

func TestOtherFramesAreHandedOverOrSkipped(t *testing.T) {
	near, far := pair(t)
	near.WriteMessage(websocket.BinaryMessage, []byte("chunk"))
	near.WriteMessage(websocket.BinaryMessage, []byte("left unread"))
	near.WriteMessage(websocket.TextMessage, []byte("text"))
	var got []string
	data, err := Receive(far, func() {}, func(kind int, r io.Reader) {
		buf := make([]byte, 5)
		n, _ := io.ReadFull(r, buf)
		got = append(got, fmt.Sprint(kind, string(buf[:n])))
	})
	if err != nil || string(data) != "text" || fmt.Sprint(got) != "[2chunk 2left ]" {
		t.Errorf("%q %q %v", data, got, err)
	}
}
