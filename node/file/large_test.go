package file

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// logFile writes lines "N text" of varied length and gives the path.
func logFile(t testing.TB, b *tooltest.Bench, name string, lines int) string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	var buf bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&buf, "%d %s\n", i, strings.Repeat("x", rnd.IntN(120)))
	}
	return b.File(name, buf.String())
}

// lineStarts reads one line at each offset and compares its own number.
func lineStarts(t *testing.T, b *tooltest.Bench, offsets ...int) {
	t.Helper()
	for _, n := range offsets {
		out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "log", "offset": n, "limit": 1})
		if want := fmt.Sprintf("%d\t%d ", n+1, n); !strings.HasPrefix(out.Content, want) {
			t.Fatalf("offset %d: got %.40q, want %q", n, out.Content, want)
		}
	}
}

func TestReadFindsEachLineOfALargeFile(t *testing.T) {
	b := newBench(t)
	const lines = 60_000
	path := logFile(t, b, "log", lines)
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		lineStarts(t, b, rnd.IntN(lines))
	}
	lineStarts(t, b, 0, 1, lines-1)
	for _, n := range []int{lines, lines + 1, 1 << 30} {
		if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "log", "offset": n}); out.Lines != 0 || out.Content != "" {
			t.Errorf("offset %d: got %d lines, want none", n, out.Lines)
		}
	}
	data, _ := os.ReadFile(path)
	want := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "log", "offset": lines - 100})
	if got := strings.Split(out.Content, "\n"); len(got) != 100 || out.Lines != 100 || !strings.HasSuffix(got[99], want[lines-1]) {
		t.Errorf("at the end: got %d lines, want the last 100", out.Lines)
	}
}

func TestReadNoticesChangesOfALargeFile(t *testing.T) {
	b := newBench(t)
	const lines = 30_000
	path := logFile(t, b, "log", lines)
	old := time.Now().Add(-time.Hour)
	age := func() { os.Chtimes(path, old, old) } // so that its time tells versions apart
	age()
	lineStarts(t, b, lines-1, 10_000)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		fmt.Fprintf(f, "%d %s\n", lines+i, strings.Repeat("y", 50))
	}
	f.Close()
	lineStarts(t, b, lines, lines+19_999, 5, 29_000)
	data, _ := os.ReadFile(path)
	for name, change := range map[string]func() []byte{
		"shorter":               func() []byte { return data[:len(data)/2] },
		"longer from the start": func() []byte { return append([]byte("- new first line\n"), data...) },
		"as long, other lines":  func() []byte { return bytes.ReplaceAll(data, []byte("xx\n"), []byte("x\nx")) },
		"replaced by less":      func() []byte { return bytes.ReplaceAll(data, []byte("xxxxx"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			next := change()
			if err := os.WriteFile(path, next, 0o644); err != nil { // the same file, rewritten in place
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSuffix(string(next), "\n"), "\n")
			for _, n := range []int{len(want) - 1, len(want) / 2, 7} {
				out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "log", "offset": n, "limit": 1})
				if out.Content != fmt.Sprintf("%d\t%s", n+1, want[n]) {
					t.Errorf("%s: line %d is %.60q, want %.60q", name, n, out.Content, want[n])
				}
			}
			os.WriteFile(path, data, 0o644)
			lineStarts(t, b, lines)
		})
	}
}

func TestReadOfAChangingFileIsConsistent(t *testing.T) {
	b := newBench(t)
	path := logFile(t, b, "log", 20_000)
	data, _ := os.ReadFile(path)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			f.Truncate(int64(len(data)) / 3)
			f.WriteAt(data, 0)
		}
	}()
	for i := range 200 {
		n := 6000 + i*60
		out, err := tooltest.Call[readText](b, "Read", tooltest.Args{"path": "log", "offset": n, "limit": 3})
		if err != nil { // it became shorter on each try, which is reported
			if !strings.Contains(err.Error(), "shorter") && !strings.Contains(err.Error(), "Binary file") {
				t.Errorf(`got %v; want an error with "shorter" or an error with "Binary file"`, err)
			}
			continue
		}
		if out.Lines > 3 {
			t.Errorf("got %d lines, want at most 3", out.Lines)
		}
	}
	close(stop)
	<-done
	lineStarts(t, b, 19_999)
}

func TestReadEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	path := b.File("log", "first\n")
	if err := os.Truncate(path, 40<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := tooltest.CallContext[readText](ctx, access.Call{}, b, "Read", tooltest.Args{"path": "log", "offset": 1000}); err == nil {
		t.Error("a cancelled Read of 40 GiB returned a result, want an error")
	}
}
