package transfer_test

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// late forwards connections to an address with a delay, and returns its own address.
func late(t testing.TB, to string, d time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex // guards the variables below
	var conns []net.Conn
	shut := false
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		if conns = append(conns, c); shut {
			c.Close()
		}
	}
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		shut = true
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	type piece struct {
		data []byte
		due  time.Time
	}
	pump := func(from, to net.Conn) {
		way := make(chan piece, 1<<12)
		wg.Go(func() {
			defer from.Close()
			defer to.Close()
			for p := range way {
				time.Sleep(time.Until(p.due))
				to.Write(p.data)
			}
		})
		defer close(way)
		for {
			buf := make([]byte, 64<<10)
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			way <- piece{buf[:n], time.Now().Add(d)}
		}
	}
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			keep(near)
			keep(far)
			wg.Go(func() { pump(near, far) })
			wg.Go(func() { pump(far, near) })
		}
	})
	return l.Addr().String()
}

// distant returns two nodes with the given one-way delay to the gateway.
func distant(t testing.TB, d time.Duration) *rig {
	r := newRig(t)
	for _, id := range []protocol.NodeID{"a", "b"} {
		m := &machine{dir: t.TempDir(), home: t.TempDir(), wire: &wire{conns: make(map[net.Conn]bool), addr: late(t, r.listen, d)}}
		r.nodes[id] = m
		r.boot(id)
		t.Cleanup(func() { m.stop() })
		r.online(id)
	}
	return r
}

// firstByte starts a transfer of a file and waits until the destination has written something of
// it.
func firstByte(t testing.TB, r *rig, file, as string) time.Duration {
	t.Helper()
	dir := r.nodes["b"].dir
	began := time.Now()
	tr := r.begin(protocol.TransferStartParams{Sources: []string{"a:" + file}, Destination: "b:" + as + "/" + file})
	for {
		if list, _ := os.ReadDir(dir + "/" + as); len(list) > 0 {
			if info, err := list[0].Info(); err == nil && info.Size() > 0 {
				break
			}
		}
		if time.Since(began) > time.Minute {
			t.Fatal("nothing arrives")
		}
		time.Sleep(200 * time.Microsecond)
	}
	took := time.Since(began)
	if end := r.end(tr.ID, time.Minute); end.State != protocol.TransferDone {
		t.Fatalf("%+v", end)
	}
	return took
}

// BenchmarkFirstByte measures the time from the request to the first written byte, with both nodes
// 20 ms from the gateway, one way. A round trip is that between the gateway and one node; between
// the nodes it takes two.
func BenchmarkFirstByte(b *testing.B) {
	const way = 20 * time.Millisecond
	r := distant(b, way)
	for name, size := range map[string]int64{"small": 1000, "large": 32 << 20} {
		b.Run(name, func(b *testing.B) {
			r.file("a", name, size)
			best, n := time.Hour, 0
			for b.Loop() {
				n++
				best = min(best, firstByte(b, r, name, fmt.Sprint(name, b.N, n, time.Now().UnixNano())))
			}
			b.ReportMetric(best.Seconds()*1000, "best-ms")
			b.ReportMetric(float64(best)/float64(2*way), "round-trips")
		})
	}
}

// The best of several tries counts, because the machine may be busy.
func TestTheFirstByteIsThereWithinThreeRoundTrips(t *testing.T) {
	const way = 160 * time.Millisecond
	r := distant(t, way)
	r.file("a", "f", 300<<10)
	best := time.Hour
	for n, end := 0, time.Now().Add(2*time.Minute); time.Now().Before(end); n++ {
		if best = min(best, firstByte(t, r, "f", fmt.Sprint(n))); best <= 3*2*way {
			return
		}
	}
	t.Errorf("it took %.1f round trips", float64(best)/float64(2*way))
}
