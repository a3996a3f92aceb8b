package transfer_test

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// badNetworkProxy forwards connections like a bad network: with delay, changing speeds, pauses, and
// disconnects at any point. The kernel's netem does this to packets where it is available; a
// program sees the effects of lost packets as it does here.
type badNetworkProxy struct {
	l     net.Listener
	to    string
	delay time.Duration // base delay, up to half more is added
	life  time.Duration // average lifetime of a connection
	cuts  atomic.Int64

	mu    sync.Mutex // guards the fields below
	rng   *rand.Rand
	conns map[net.Conn]bool
	shut  bool
	wg    sync.WaitGroup
}

// newBadNetworkProxy listens on a free port of an address, for connections to another one.
func newBadNetworkProxy(t testing.TB, at, to string, seed uint64) *badNetworkProxy {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		t.Fatal(err)
	}
	w := &badNetworkProxy{l: l, to: to, delay: 5 * time.Millisecond, life: 8 * time.Second, rng: rand.New(rand.NewPCG(seed, 3)), conns: make(map[net.Conn]bool)}
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

// randomDuration returns a random duration.
func (w *badNetworkProxy) randomDuration(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

// oneIn returns true once in n times.
func (w *badNetworkProxy) oneIn(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n) == 0
}

func (w *badNetworkProxy) addConn(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.shut {
		w.conns[c] = true
	}
	return !w.shut
}

func (w *badNetworkProxy) serve() {
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
		if !w.addConn(near) || !w.addConn(far) {
			near.Close()
			far.Close()
			return
		}
		w.wg.Go(func() { w.forward(near.(*net.TCPConn), far.(*net.TCPConn)) })
	}
}

// forward forwards one connection until it closes.
func (w *badNetworkProxy) forward(near, far *net.TCPConn) {
	rate := int64(0) // bytes a second; 0 means unlimited
	switch {
	case w.oneIn(4):
		rate = 8 << 20
	case w.oneIn(2):
		rate = 40 << 20
	}
	silent := new(atomic.Bool)
	ended := make(chan struct{})
	once := sync.OnceFunc(func() { close(ended) })
	var wg sync.WaitGroup
	wg.Go(func() { w.copyWithDelay(near, far, rate, silent, ended); once() })
	wg.Go(func() { w.copyWithDelay(far, near, rate, silent, ended); once() })
	cut := time.NewTimer(w.life/4 + w.randomDuration(w.life*3/2))
	defer cut.Stop()
	select {
	case <-ended:
	case <-cut.C:
		w.cuts.Add(1)
		if w.oneIn(3) { // silence without a disconnect
			silent.Store(true)
			select {
			case <-ended:
			case <-time.After(w.randomDuration(4 * time.Second)):
			}
		}
		if w.oneIn(2) {
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

// chunk is data with the time at which it is due.
type chunk struct {
	data []byte
	due  time.Time
}

func (w *badNetworkProxy) copyWithDelay(from, to net.Conn, rate int64, silent *atomic.Bool, ended <-chan struct{}) {
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
			case way <- chunk{buf[:n], time.Now().Add(w.delay + w.randomDuration(w.delay/2))}:
			case <-ended:
				return
			}
		}
	})
	defer from.Close() // stops the reader above
	for c := range way {
		time.Sleep(time.Until(c.due))
		if rate > 0 {
			time.Sleep(time.Duration(int64(len(c.data)) * int64(time.Second) / rate))
		}
		if w.oneIn(2000) { // simulates a packet that was lost more than once
			time.Sleep(w.randomDuration(1500 * time.Millisecond))
		}
		if silent.Load() {
			continue
		}
		if _, err := to.Write(c.data); err != nil {
			return
		}
	}
}
