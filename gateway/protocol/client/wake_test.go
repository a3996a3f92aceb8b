package client

import (
	"context"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// TestAProbeEndsASilentConnection: the far side disappeared silently, as after sleep or on another
// network.
func TestAProbeEndsASilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		dial, stop := listen(t, func(p peer, n int) {
			p.hello()
			if n == 1 {
				<-hold // does not read, so it answers no ping
				return
			}
			p.idle()
		})
		defer stop()
		defer close(hold)
		ups := make(chan time.Time, 4)
		c, end := start(t, Options{Dial: dial, OnUp: func(context.Context, protocol.ConnectResult) { ups <- time.Now() }})
		defer end()
		<-ups
		began := time.Now()
		c.Probe("test")
		if took := (<-ups).Sub(began); took < probeLimit || took > probeLimit+minBackoff {
			t.Errorf("back after %s, want it after a probe and a pause", took)
		}
		// A connection that answers stays open.
		c.Probe("test")
		time.Sleep(2 * probeLimit)
		synctest.Wait()
		if len(ups) != 0 || !c.Connected() {
			t.Error("a connection that lives was ended")
		}
	})
}

func TestAProbeEndsThePauseBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, n int) {
			if n < 10 {
				return
			}
			p.hello()
			p.idle()
		})
		defer stop()
		ups, downs := make(chan struct{}, 4), make(chan struct{}, 64)
		c, end := start(t, Options{Dial: dial, OnUp: func(context.Context, protocol.ConnectResult) { ups <- struct{}{} }, OnDown: func(error) { downs <- struct{}{} }})
		defer end()
		for range 6 {
			<-downs
		}
		synctest.Wait()
		began := time.Now()
		c.Probe("test")
		<-downs
		if took := time.Since(began); took > 0 {
			t.Errorf("the next attempt came after %s, want at most 0", took)
		}
		<-ups
	})
}

// here is a connection within this machine.
type here struct{ net.Conn }

func (here) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// A busy gateway on this computer is not given up because a network changed, as happens whenever a
// container starts.
func TestAProbeLeavesAConnectionWithinThisComputer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			<-hold // busy
			p.idle()
		})
		defer stop()
		up := make(chan struct{}, 4)
		local := func(ctx context.Context) (net.Conn, error) {
			c, err := dial(ctx)
			return here{c}, err
		}
		c, end := start(t, Options{Dial: local, OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} }})
		defer end()
		<-up
		c.Probe("test")
		time.Sleep(2 * probeLimit)
		close(hold)
		synctest.Wait()
		if len(up) != 0 || !c.Connected() {
			t.Error("a connection that lives was ended")
		}
	})
}

// strict is a connection whose reads fail after the deadline even if data is available, as the
// system's do.
type strict struct {
	net.Conn
	until time.Time
}

func (s *strict) SetReadDeadline(t time.Time) error {
	s.until = t
	return s.Conn.SetReadDeadline(t)
}

func (s *strict) Read(p []byte) (int, error) {
	if !s.until.IsZero() && !time.Now().Before(s.until) {
		return 0, os.ErrDeadlineExceeded
	}
	return s.Conn.Read(p)
}

// A client that takes long over an event, or is suspended for a while, reads what arrived meanwhile
// and does not lose its connection.
func TestBusyPeerKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			if r, ok := p.request(); ok {
				p.answer(r.ID, protocol.ConfigGetResult{})
				p.event(protocol.EventChat, protocol.ChatEvent{}, 0)
			}
			p.idle()
		})
		defer stop()
		up, heard := make(chan struct{}, 4), make(chan struct{}, 4)
		c, end := start(t, Options{
			Dial: func(ctx context.Context) (net.Conn, error) {
				conn, err := dial(ctx)
				return &strict{Conn: conn}, err
			},
			OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
			OnEvent: func(protocol.EventFrame) {
				time.Sleep(silenceLimit + time.Second)
				heard <- struct{}{}
			},
		})
		defer end()
		<-up
		if _, err := Call(t.Context(), c, protocol.ConfigGet, protocol.ConfigGetParams{}); err != nil {
			t.Fatal(err)
		}
		<-heard
		time.Sleep(2 * silenceLimit)
		if len(up) != 0 || !c.Connected() {
			t.Error("the connection was lost")
		}
	})
}
