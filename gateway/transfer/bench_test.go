package transfer_test

import (
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

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// BenchmarkRelay moves 1 GiB from machine to machine through the gateway over loopback, with hash and sync, beside a bare relay over two TCP hops that
// writes and syncs the file.
func BenchmarkRelay(b *testing.B) {
	const size = 1 << 30
	r := newRig(b, "a", "b")
	from := r.file("a", "x.bin", size)
	b.Run("fairlead", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, 2*time.Minute)
			if tr.State != protocol.TransferDone {
				b.Fatalf("%+v", tr)
			}
			b.StopTimer()
			os.Remove(filepath.Join(r.nodes["b"].dir, "y.bin"))
			b.StartTimer()
		}
	})
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			bare(b, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
			b.StopTimer()
			os.Remove(filepath.Join(r.nodes["b"].dir, "y.bin"))
			b.StartTimer()
		}
	})
}

// bare sends a file over two TCP hops with plain reads and writes.
func bare(b *testing.B, from, to string) {
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
		b.Fatal(a, err)
	}
}

// BenchmarkSmallFiles moves 10,000 files of 4 KiB.
func BenchmarkSmallFiles(b *testing.B) {
	const files = 10_000
	r := newRig(b, "a", "b")
	for i := range files {
		r.file("a", fmt.Sprintf("many/%02d/%04d", i%50, i), 4096)
	}
	n := 0
	for b.Loop() {
		n++
		tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:many"}, Destination: fmt.Sprintf("b:to%d", n)}).ID, 2*time.Minute)
		if tr.State != protocol.TransferDone || tr.FilesDone != files {
			b.Fatalf("%+v", tr)
		}
	}
	b.ReportMetric(float64(files*b.N)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkCallsBesideTransfers calls a tool on a machine that sends ten files at once over the same connection.
func BenchmarkCallsBesideTransfers(b *testing.B) {
	r := newRig(b, "a", "b")
	r.file("a", "x.bin", 256<<20)
	var stop atomic.Bool
	var moved atomic.Int64
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				t, err := client.Call(b.Context(), r.c, protocol.TransferStart, protocol.TransferStartParams{
					Sources: []string{"a:x.bin"}, Destination: fmt.Sprintf("b:%d", i),
					Conflict: protocol.ConflictOverwrite,
				})
				if err != nil {
					return
				}
				last := int64(0)
				for !t.Over() && !stop.Load() {
					time.Sleep(50 * time.Millisecond)
					if t, err = client.Call(b.Context(), r.c, protocol.TransferGet, protocol.TransferParams{ID: t.ID}); err != nil {
						return
					}
					moved.Add(t.BytesDone - last)
					last = t.BytesDone
				}
				os.Remove(filepath.Join(r.nodes["b"].dir, fmt.Sprint(i)))
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	var took []time.Duration
	before, from := moved.Load(), time.Now()
	for b.Loop() {
		began := time.Now()
		if _, err := client.Call(b.Context(), r.c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "a__Glob", Args: json.RawMessage(`{"pattern":"*.none"}`)}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.StopTimer()
	b.ReportMetric(float64(moved.Load()-before)/time.Since(from).Seconds()/1e6, "moved-MB/s")
	stop.Store(true)
	wg.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
