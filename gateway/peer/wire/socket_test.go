package wire

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted counts the writes to the system.
func counted(n *atomic.Int64) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn {
		s := NewSocket(c)
		try := s.try
		if try == nil {
			try = c.Write
		}
		s.try = func(b []byte) (int, error) {
			n.Add(1)
			return try(b)
		}
		return s
	}
}

func TestHeldFramesGoOutInOnePiece(t *testing.T) {
	var writes atomic.Int64
	near, far := over(t, counted(&writes))
	w := NewWriter(near)
	before := writes.Load()
	for i := range 50 {
		if !w.Hold(fmt.Append(nil, i)) {
			t.Fatal(i)
		}
	}
	if n := writes.Load() - before; n != 0 {
		t.Errorf("%d writes before the flush", n)
	}
	w.Flush()
	for i := range 50 {
		if data, err := Receive(far, func() {}, nil); err != nil || string(data) != fmt.Sprint(i) {
			t.Fatal(string(data), err)
		}
	}
	if n := writes.Load() - before; n != 1 {
		t.Errorf("%d writes", n)
	}
}

func TestFrameForWhichNobodyWaitsGoesWithTheNextOrSoon(t *testing.T) {
	var writes atomic.Int64
	near, far := over(t, counted(&writes))
	w := NewWriter(near)
	before := writes.Load()
	read := func(want string) {
		t.Helper()
		if data, err := Receive(far, func() {}, nil); err != nil || string(data) != want {
			t.Fatal(string(data), err)
		}
	}
	w.SendSoon([]byte("alone"))
	read("alone")
	w.SendSoon([]byte("first"))
	w.Send(t.Context(), []byte("second"))
	read("first")
	read("second")
	if n := writes.Load() - before; n > 3 { // two, unless the millisecond ended between them
		t.Errorf("%d writes", n)
	}
}

// Offer never waits for the peer, its backlog is limited, and everything arrives once the peer
// reads.
func TestOfferNeverWaits(t *testing.T) {
	near, far := pair(t) // the far side does not read yet
	w := NewWriter(near)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { w.Run(ctx, time.Hour, func() {}) })
	text := bytes.Repeat([]byte("x"), 16<<10)
	n := 0
	for ; w.Offer(append(fmt.Appendf(nil, "%08d", n), text...)); n++ {
		if n > 10_000 {
			t.Fatal("160 MB wait for a peer that takes nothing")
		}
	}
	if n == 0 {
		t.Fatal("nothing was taken")
	}
	for i := range n {
		data, err := Receive(far, func() {}, nil)
		if err != nil || string(data[:8]) != fmt.Sprintf("%08d", i) || !bytes.Equal(data[8:], text) {
			t.Fatalf("%d: %d bytes, %v", i, len(data), err)
		}
	}
	cancel()
	wg.Wait()
}

func TestControlFramesGoBetweenHeldOnes(t *testing.T) {
	near, far := pair(t)
	pinged := make(chan struct{}, 1)
	far.SetPingHandler(func(string) error {
		pinged <- struct{}{}
		return nil
	})
	s := near.NetConn().(*Socket)
	s.Hold()
	near.WriteMessage(1, []byte("a"))
	if err := Ping(near); err != nil {
		t.Fatal(err)
	}
	near.WriteMessage(1, []byte("b"))
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a", "b"} {
		if data, err := Receive(far, func() {}, nil); err != nil || string(data) != want {
			t.Fatal(string(data), err)
		}
	}
	select {
	case <-pinged:
	default:
		t.Error("no ping came between")
	}
}

func TestReaderIsToldBeforeItWaits(t *testing.T) {
	near, far := pair(t)
	told := make(chan struct{}, 16)
	s := far.NetConn().(*Socket)
	s.Before = func() { told <- struct{}{} }
	var wg sync.WaitGroup
	wg.Go(func() { Receive(far, func() {}, nil) })
	select {
	case <-told:
	case <-time.After(60 * time.Second):
		t.Error("not told")
	}
	near.Close()
	wg.Wait()
}
