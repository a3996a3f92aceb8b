package rpc

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestTooManyConcurrentCallsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		hold := make(chan struct{})
		b, stop := open(f)
		defer stop()
		stopNode := connectNode(t, b.owner, "n", func(protocol.ToolInvoke) protocol.ToolResultParams {
			<-hold
			return protocol.ToolResultParams{Result: []byte("1")}
		})
		defer stopNode()
		c, stopClient := connect(t, b.public, client.Options{})
		defer stopClient()
		var done, refused atomic.Int32
		var wg sync.WaitGroup
		for range maxInFlight + 5 {
			wg.Go(func() {
				_, err := client.Call(t.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "n__Echo"})
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, protocol.ErrUnavailable):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * slotWait)
		close(hold)
		wg.Wait()
		if done.Load() != maxInFlight || refused.Load() != 5 {
			t.Errorf("got %d done, %d refused, want %d, 5", done.Load(), refused.Load(), maxInFlight)
		}
		if _, err := client.Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil {
			t.Error(err)
		}
	})
}

// dialSilent dials and connects as a client that then reads nothing.
func dialSilent(t *testing.T, b *bench, more ...string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return b.owner(ctx) }}
	ws, _, err := d.Dial("ws://gateway/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append([]string{`{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"client":{"id":"stuck","mode":"client"}}}`}, more...) {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(line)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
	return ws
}

// fill publishes more than the transport and the queue of a connection hold.
func fill(b *bench) {
	for _, size := range []int{1 << 20, 1 << 20} {
		b.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{Text: strings.Repeat("x", size)}})
	}
	for i := range 200 {
		b.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{At: int64(i)}})
	}
}

func TestStalledClientIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := open(newFakes())
		defer stop()
		ws := dialSilent(t, b, `{"type":"req","id":"f","method":"feed.subscribe"}`)
		defer ws.Close()
		quick, stopQuick := connect(t, b.owner, client.Options{})
		defer stopQuick()
		fill(b)
		synctest.Wait()
		began := time.Now()
		if _, err := client.Call(t.Context(), quick, protocol.StatusGet, protocol.Empty{}); err != nil || time.Since(began) > time.Second {
			t.Errorf("the other client: got an answer after %s, error %v, want it within a second", time.Since(began), err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		b.srv.conns.mu.Lock()
		n := len(b.srv.conns.conns)
		b.srv.conns.mu.Unlock()
		if n != 1 {
			t.Errorf("got %d connections, want 1", n)
		}
	})
}

func TestFeedOfASlowClientStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := open(newFakes())
		defer stop()
		held := &blockingConn{}
		c, stopClient := connect(t, func(ctx context.Context) (net.Conn, error) {
			conn, err := b.owner(ctx)
			held.Conn = conn
			return held, err
		}, client.Options{})
		defer stopClient()
		ctx, cancel := context.WithCancel(t.Context())
		snapshots, last := 0, int64(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Feed(ctx, func(protocol.FeedSnapshot) { snapshots++ }, func(ch protocol.Change) {
				if ch.Notice == nil {
					return
				}
				if ch.Notice.At < last {
					t.Errorf("got change %d after %d, want a rising order", ch.Notice.At, last)
				}
				if last = ch.Notice.At; last == 20*event.MaxQueue {
					cancel()
				}
			})
		}()
		synctest.Wait()
		let := held.block() // the client is slower than any publisher
		for i := range 20 * event.MaxQueue {
			b.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{At: int64(i)}})
		}
		let()
		synctest.Wait()
		b.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{At: 20 * event.MaxQueue}})
		<-done
		if snapshots < 2 {
			t.Errorf("got %d snapshots, want at least 2", snapshots)
		}
	})
}

// blockingConn delivers nothing that it has read while it is blocked.
type blockingConn struct {
	net.Conn
	gate atomic.Pointer[chan struct{}]
}

func (c *blockingConn) block() (let func()) {
	gate := make(chan struct{})
	c.gate.Store(&gate)
	return func() { close(gate) }
}

func (c *blockingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if gate := c.gate.Load(); gate != nil {
		<-*gate
	}
	return n, err
}

func TestCloseEndsEverythingEvenWithAStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := open(newFakes())
		ws := dialSilent(t, b, `{"type":"req","id":"f","method":"feed.subscribe"}`)
		defer ws.Close()
		fill(b)
		stopNode := connectNode(t, b.owner, "n", func(protocol.ToolInvoke) protocol.ToolResultParams { return protocol.ToolResultParams{} })
		began := time.Now()
		stop()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s, want at most 5s", took)
		}
		ws.Close()
		stopNode()
	})
}

func TestLargeFramesMayComeSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		got := 0
		f.sent = func(p protocol.ChatSendParams) { got = len(p.Message) }
		b, stop := open(f)
		defer stop()
		c, stopClient := connect(t, func(ctx context.Context) (net.Conn, error) {
			conn, err := b.public(ctx)
			return slowConn{conn}, err
		}, client.Options{})
		defer stopClient()
		began := time.Now()
		if _, err := client.Call(t.Context(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: "main", Message: strings.Repeat("x", 8<<20)}); err != nil {
			t.Error(err)
		}
		if got != 8<<20 || time.Since(began) < 90*time.Second {
			t.Errorf("got %d bytes in %s, want %d in at least 90s", got, time.Since(began), 8<<20)
		}
	})
}

// slowConn writes at less than a megabit a second.
type slowConn struct{ net.Conn }

func (c slowConn) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Second / (80 << 10))
	return c.Conn.Write(p)
}

func TestFrameBeyondTheLimitEndsTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		connect bool
		size    int
	}{"stranger": {false, maxHandshake + 1}, "client": {true, protocol.MaxReadFrame + 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, stop := open(newFakes())
				defer stop()
				m, err := b.dial("owner")
				if err != nil {
					t.Fatal(err)
				}
				defer m.ws.Close()
				if c.connect {
					sendLine(t, m, `{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"}}}`)
					synctest.Wait()
					m.takeReceived()
				}
				m.ws.WriteMessage(websocket.TextMessage, make([]byte, c.size))
				synctest.Wait()
				if heard := m.takeReceived(); len(heard) != 1 || !strings.HasPrefix(heard[0], "close 1009") {
					t.Errorf("got %v, want close 1009", heard)
				}
			})
		})
	}
}

func TestTooLargeEventsAreRefusedNotSent(t *testing.T) {
	b, stop := open(newFakes())
	defer stop()
	c, stopClient := connect(t, b.public, client.Options{})
	defer stopClient()
	var conn *Conn
	b.srv.conns.mu.Lock()
	for conn = range b.srv.conns.conns {
	}
	b.srv.conns.mu.Unlock()
	if err := conn.socket.SendEvent(t.Context(), "x", strings.Repeat("x", protocol.MaxWriteFrame)); !errors.Is(err, protocol.ErrTooLarge) {
		t.Errorf("SendEvent: got error %v, want %v", err, protocol.ErrTooLarge)
	}
	if _, err := client.Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil {
		t.Errorf("Call after it: got error %v, want none", err)
	}
}
