package transfer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// BenchmarkRelay moves 1 GiB between two nodes through the gateway over loopback, with hash and
// sync. For comparison it does the same directly between the nodes over TLS, and through a bare
// relay over two TCP hops that writes and syncs the file.
func BenchmarkRelay(b *testing.B) {
	const size = 1 << 30
	var l lan
	r := newNearGateway(b, &l, "a", "b")
	from := r.createFile("a", "x.bin", size)
	move := func(b *testing.B, route string) {
		b.SetBytes(size)
		began := cpuTime()
		defer func() {
			b.ReportMetric(float64((cpuTime()-began).Milliseconds())/1000/float64(b.N), "cpu-s/GiB")
		}()
		for b.Loop() {
			tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, 2*time.Minute)
			if tr.State != protocol.TransferDone || tr.Route != route {
				b.Fatalf("got %+v, want it done over %s", tr, route)
			}
			b.StopTimer()
			os.Remove(filepath.Join(r.nodes["b"].dir, "y.bin"))
			b.StartTimer()
		}
	}
	b.Run("direct", func(b *testing.B) { move(b, protocol.RouteDirect) })
	b.Run("fairlead", func(b *testing.B) {
		l.closed.Store(true)
		defer l.closed.Store(false)
		r.createFile("a", "apart.bin", 1)
		// The first failed try prevents further ones.
		r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:apart.bin"}, Destination: "b:apart.bin"}).ID, time.Minute)
		move(b, protocol.RouteRelay)
	})
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			sendPlain(b, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
			b.StopTimer()
			os.Remove(filepath.Join(r.nodes["b"].dir, "y.bin"))
			b.StartTimer()
		}
	})
}

// cpuTime returns the processor time of this process, or 0 if that is unknown.
var cpuTime = func() time.Duration { return 0 }

// sendPlain sends a file over two TCP hops with plain reads and writes.
func sendPlain(b *testing.B, from, to string) {
	b.Helper()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		return l
	}
	relay, sink := listen(), listen()
	defer relay.Close()
	defer sink.Close()
	pass := func(w io.Writer, r io.Reader) error {
		buf := make([]byte, 256<<10)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				if _, err := w.Write(buf[:n]); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		in, err := relay.Accept()
		if err != nil {
			return
		}
		defer in.Close()
		out, err := net.Dial("tcp", sink.Addr().String())
		if err != nil {
			return
		}
		defer out.Close()
		pass(out, in)
	})
	wg.Go(func() {
		in, err := sink.Accept()
		if err != nil {
			return
		}
		defer in.Close()
		f, err := os.Create(to)
		if err != nil {
			return
		}
		defer f.Close()
		pass(struct{ io.Writer }{f}, struct{ io.Reader }{in})
		f.Sync()
	})
	out, err := net.Dial("tcp", relay.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(from)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := pass(struct{ io.Writer }{out}, struct{ io.Reader }{f}); err != nil {
		b.Error(err)
	}
	out.Close()
	wg.Wait()
	if a, err := os.Stat(to); err != nil || a.Size() != 1<<30 {
		b.Fatalf("got %v, error %v, want 1 GiB", a, err)
	}
}

// BenchmarkSmallFiles moves 10,000 files of 4 KiB.
func BenchmarkSmallFiles(b *testing.B) {
	const files = 10_000
	r := newTestGateway(b, "a", "b")
	for i := range files {
		r.createFile("a", fmt.Sprintf("many/%02d/%04d", i%50, i), 4096)
	}
	n := 0
	for b.Loop() {
		n++
		tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:many"}, Destination: fmt.Sprintf("b:to%d", n)}).ID, 2*time.Minute)
		if tr.State != protocol.TransferDone || tr.FilesDone != files {
			b.Fatalf("got %+v, want %d files", tr, files)
		}
	}
	b.ReportMetric(float64(files*b.N)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkCallsBesideTransfers calls a tool on a node that sends ten files at once over the same
// connection. FAIRLEAD_BESIDE names a running gateway, as packaging/compare-transfers.sh sets it:
// then its nodes a and b are used, and the files x.bin and y.bin of the first, which differ in
// size. FAIRLEAD_BESIDE_TOKEN is its token.
func BenchmarkCallsBesideTransfers(b *testing.B) {
	var c *client.Client
	if url := os.Getenv("FAIRLEAD_BESIDE"); url != "" {
		c = client.New(client.Options{URL: url, Token: os.Getenv("FAIRLEAD_BESIDE_TOKEN"), Connect: func() protocol.ConnectParams { return gateway.ClientParams("test") }})
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { c.Run(ctx) })
		b.Cleanup(func() { cancel(); wg.Wait() })
		for _, err := client.Call(b.Context(), c, protocol.NodesList, protocol.Empty{}); err != nil; _, err = client.Call(b.Context(), c, protocol.NodesList, protocol.Empty{}) {
			time.Sleep(10 * time.Millisecond)
		}
	} else {
		r := newTestGateway(b, "a", "b")
		r.createFile("a", "x.bin", 256<<20)
		r.createFile("a", "y.bin", 256<<20+1)
		c = r.c
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	moved := make([]atomic.Int64, 10)
	sum := func() (all, least, most int64) {
		least = moved[0].Load()
		for i := range moved {
			n := moved[i].Load()
			all, least, most = all+n, min(least, n), max(most, n)
		}
		return all, least, most
	}
	// Fairness is measured when the first transfer that moved its whole file ends: after that they
	// are whole files apart.
	var least, most int64
	fair := sync.OnceFunc(func() { _, least, most = sum() })
	for i := range moved {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				t, err := client.Call(b.Context(), c, protocol.TransferStart, protocol.TransferStartParams{
					Sources: []string{"a:" + [2]string{"x.bin", "y.bin"}[n%2]}, Destination: fmt.Sprintf("b:beside/%d", i), Conflict: protocol.ConflictOverwrite,
				})
				if err != nil {
					b.Error(err)
					return
				}
				last := int64(0)
				for !t.Over() && !stop.Load() {
					time.Sleep(50 * time.Millisecond)
					if t, err = client.Call(b.Context(), c, protocol.TransferGet, protocol.TransferParams{ID: t.ID}); err != nil {
						b.Error(err)
						return
					}
					moved[i].Add(t.BytesDone - last)
					last = t.BytesDone
				}
				// With Skipped, the file was there already.
				if _, slowest, _ := sum(); t.Skipped == 0 && slowest > 0 {
					fair()
				}
				if !t.Over() {
					client.Call(b.Context(), c, protocol.TransferCancel, protocol.TransferParams{ID: t.ID})
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	var took []time.Duration
	before, _, _ := sum()
	from := time.Now()
	for b.Loop() {
		began := time.Now()
		if _, err := client.Call(b.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "a__Glob", Args: json.RawMessage(`{"pattern":"*.none"}`)}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.StopTimer()
	all, _, _ := sum()
	b.ReportMetric(float64(all-before)/time.Since(from).Seconds()/1e6, "moved-MB/s")
	stop.Store(true)
	wg.Wait()
	b.ReportMetric(float64(least)/float64(max(most, 1)), "slowest/fastest")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
