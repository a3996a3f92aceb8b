package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// pair returns both sides of a WebSocket connection over TCP.
func pair(t *testing.T) (near, far *websocket.Conn) {
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
	srv.Start()
	near, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	far = <-got
	t.Cleanup(func() { near.Close(); far.Close(); srv.Close() })
	return near, far
}

func TestWriterKeepsTheOrderOfEachSender(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
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
					text += strings.Repeat("x", 100<<10)
				}
				if !w.Send(ctx, []byte(text)) {
					t.Error("not sent")
				}
			}
		})
	}
	next := make([]int, senders)
	for range senders * each {
		data, err := receive(far, nil)
		if err != nil {
			t.Fatal(err)
		}
		var s, i int
		fmt.Sscan(data, &s, &i)
		if i != next[s] {
			t.Fatalf("sender %d: frame %d came where %d was due", s, i, next[s])
		}
		next[s]++
	}
	cancel()
	wg.Wait()
}

func TestWriterDropsFramesAfterClose(t *testing.T) {
	near, far := pair(t)
	w := NewWriter(near)
	for i := range 10 {
		if !w.Send(t.Context(), []byte(fmt.Sprint(i))) {
			t.Fatalf("message %d: got false, want true", i)
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
		t.Error("a closed writer accepts frames")
	}
	for i := range 10 {
		if data, err := receive(far, nil); err != nil || data != fmt.Sprint(i) {
			t.Fatalf("got %v, %v; want no error and %v", data, err, fmt.Sprint(i))
		}
	}
	if _, err := receive(far, nil); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("got %v; want close code CloseGoingAway", err)
	}
}

func TestBlockedSendEndsWithItsContext(t *testing.T) {
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
		t.Error("Send returned before its context ended")
	}
	near.Close()
	stop()
	wg.Wait()
}

func TestReceivePassesOrSkipsOtherFrames(t *testing.T) {
	near, far := pair(t)
	near.WriteMessage(websocket.BinaryMessage, []byte("chunk"))
	near.WriteMessage(websocket.BinaryMessage, []byte("left unread"))
	near.WriteMessage(websocket.TextMessage, []byte("text"))
	var got []string
	data, err := receive(far, func(kind int, r io.Reader) {
		buf := make([]byte, 5)
		n, _ := io.ReadFull(r, buf)
		got = append(got, fmt.Sprint(kind, string(buf[:n])))
	})
	if err != nil || data != "text" || fmt.Sprint(got) != "[2chunk 2left ]" {
		t.Errorf(`got %q %q %v; want no error, "text" and "[2chunk 2left ]"`, data, got, err)
	}
}

// receive receives one text frame.
func receive(ws *websocket.Conn, other func(kind int, r io.Reader)) (text string, err error) {
	err = Receive(ws, func() {}, other, func(b []byte) { text = string(b) })
	return text, err
}
