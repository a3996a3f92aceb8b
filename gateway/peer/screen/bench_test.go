package screen

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// outputs are what programs write most.
func outputs() map[string][]byte {
	var seq, compile, ls, unicode bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&seq, "%d\r\n", i)
	}
	for i := range 10_000 {
		fmt.Fprintf(&compile, "[%5d/10000] \x1b[32mCompiling\x1b[0m crate-%d v0.%d.1 (/home/anna/src/project/crates/crate-%d)\r\n", i, i, i%40, i)
		fmt.Fprintf(&ls, "drwxr-xr-x  2 root root %6d Nov 30 01:%02d \x1b[01;34mfolder%d\x1b[0m\r\n-rwxr-xr-x  1 root root   1234 Nov 30 01:00 \x1b[01;32mprogram\x1b[0m\r\n", i, i%60, i)
		fmt.Fprintf(&unicode, "Zeile %d: Größe 日本語テスト — “déjà vu” 👍\r\n", i)
	}
	return map[string][]byte{"seq": seq.Bytes(), "compile": compile.Bytes(), "ls": ls.Bytes(), "unicode": unicode.Bytes()}
}

func BenchmarkWrite(b *testing.B) {
	for name, p := range outputs() {
		b.Run(name, func(b *testing.B) {
			s := New(200, 60, 2000)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				for rest := p; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					s.Write(rest[:n])
					rest = rest[n:]
				}
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := New(200, 60, 2000)
	s.Write(outputs()["ls"])
	for b.Loop() {
		s.Snapshot()
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryOfFullScreen checks the worst that programs write: each cell in a colour of its own.
func TestMemoryOfFullScreen(t *testing.T) {
	var rainbow strings.Builder
	for y := range 2060 {
		for x := range 200 {
			fmt.Fprintf(&rainbow, "\x1b[38;2;%d;%d;%dm#", x, y&255, y>>8)
		}
		rainbow.WriteString("\r\n")
	}
	for name, p := range map[string][]byte{"ls": outputs()["ls"], "rainbow": []byte(rainbow.String())} {
		before := heap()
		s := New(200, 60, 2000)
		s.Write(p)
		got := float64(heap()-before) / 1e6
		if t.Logf("%s: %.1f MB", name, got); got > 10 {
			t.Errorf("memory of a screen of 200×60 with 2,000 lines of %s: got %.1f MB, want 10 MB at most", name, got)
		}
		runtime.KeepAlive(s)
	}
}
