package transfer_test

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rough passes connections on as a bad network does: late, at changing speeds, with pauses, and with ends in the middle of anything. The kernel's netem does
// such things to packets where it is there; of lost ones a program sees what it sees here.
type rough struct {
	l     net.Listener
	to    string
	delay time.Duration // of everything, up to half more
	life  time.Duration // of a connection, on average
	made  atomic.Int64  // connections
	cuts  atomic.Int64

	mu    sync.Mutex // guards what follows
	rng   *rand.Rand
	conns map[net.Conn]bool
	shut  bool
	wg    sync.WaitGroup
}

// newRough listens on a free port of an address, for connections to another one.
func newRough(t testing.TB, at, to string, seed uint64) *rough {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		t.Fatal(err)
	}
	w := &rough{l: l, to: to, delay: 5 * time.Millisecond, life: 8 * time.Second, rng: rand.New(rand.NewPCG(seed, 3)), conns: make(map[net.Conn]bool)}
	w.wg.Go(w.serve)
	t.Cleanup(func() {
		l.Close()
		w.mu.Lock()
		w.shut = true
		for c := range w.conns {
			c.Close()
		}
		w.mu.Unlock()
		w.wg.Wait()
	})
	return w
}

// upTo is a random time.
func (w *rough) upTo(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

// one reports true once in n times.
func (w *rough) one(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n) == 0
}

func (w *rough) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.shut {
		w.conns[c] = true
	}
	return !w.shut
}

func (w *rough) serve() {
	for {
		near, err := w.l.Accept()
		if err != nil {
			return
		}
		far, err := net.DialTimeout("tcp", w.to, time.Second)
		if err != nil {
			near.Close()
			continue
		}
		if !w.keep(near) || !w.keep(far) {
			near.Close()
			far.Close()
			return
		}
		w.made.Add(1)
		w.wg.Go(func() { w.pass(near.(*net.TCPConn), far.(*net.TCPConn)) })
	}
}

// pass is one connection's life.
func (w *rough) pass(near, far *net.TCPConn) {
	rate := int64(0) // bytes a second; 0: as fast as it goes
	switch {
	case w.one(4):
		rate = 8 << 20
	case w.one(2):
		rate = 40 << 20
	}
	silent := new(atomic.Bool)
	ended := make(chan struct{})
	once := sync.OnceFunc(func() { close(ended) })
	var wg sync.WaitGroup
	wg.Go(func() { w.pump(near, far, rate, silent, ended); once() })
	wg.Go(func() { w.pump(far, near, rate, silent, ended); once() })
	cut := time.NewTimer(w.life/4 + w.upTo(w.life*3/2))
	defer cut.Stop()
	select {
	case <-ended:
	case <-cut.C:
		w.cuts.Add(1)
		if w.one(3) { // nothing comes any more, and nobody says so
			silent.Store(true)
			select {
			case <-ended:
			case <-time.After(w.upTo(4 * time.Second)):
			}
		}
		if w.one(2) {
			near.SetLinger(0)
			far.SetLinger(0)
		}
	}
	near.Close()
	far.Close()
	once()
	wg.Wait()
	w.mu.Lock()
	delete(w.conns, near)
	delete(w.conns, far)
	w.mu.Unlock()
}

// chunk is what was read, and when it is due.
type chunk struct {
	data []byte
	due  time.Time
}

func (w *rough) pump(from, to net.Conn, rate int64, silent *atomic.Bool, ended <-chan struct{}) {
	way := make(chan chunk, 64)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		defer close(way)
		for {
			buf := make([]byte, 16<<10)
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			select {
			case way <- chunk{buf[:n], time.Now().Add(w.delay + w.upTo(w.delay/2))}:
			case <-ended:
				return
			}
		}
	})
	defer from.Close() // ends the reader above
	for c := range way {
		time.Sleep(time.Until(c.due))
		if rate > 0 {
			time.Sleep(time.Duration(int64(len(c.data)) * int64(time.Second) / rate))
		}
		if w.one(2000) { // a packet was lost more than once
			time.Sleep(w.upTo(1500 * time.Millisecond))
		}
		if silent.Load() {
			continue
		}
		if _, err := to.Write(c.data); err != nil {
			return
		}
	}
}
