//go:build unix

package terminal

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
	"fairlead/node/shell"
)

// newTerminals returns terminals whose programs are plain children of the test.
func newTerminals(t testing.TB) *Terminals {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SHELL", "/bin/sh")
	jobs := shell.NewJobs(shell.JobOptions{})
	x := New(Options{Commands: jobs, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { x.Close(); jobs.Close() })
	return x
}

// request sends a request on a new stream.
func request(t testing.TB, x *Terminals, r protocol.TerminalRequest) net.Conn {
	t.Helper()
	conn, err := x.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := tunnel.WriteFrame(conn, protocol.TerminalRequested, protocol.Encode(r)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// next returns the next frame of a kind.
func next(t testing.TB, conn net.Conn, want byte) string {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		kind, body, err := tunnel.ReadFrame(conn, protocol.MaxTerminalFrame)
		if err != nil {
			t.Fatalf("read a frame of the kind %c: %v", want, err)
		}
		if kind == want {
			return string(body)
		}
	}
}

// open opens a terminal and returns an error of the machine.
func open(t testing.TB, x *Terminals, id protocol.TerminalID, o protocol.TerminalOpen) string {
	t.Helper()
	conn := request(t, x, protocol.TerminalRequest{Do: protocol.TerminalDoOpen, ID: id, Open: &o})
	defer conn.Close()
	var end protocol.TerminalEnd
	if err := protocol.Unmarshal([]byte(next(t, conn, protocol.TerminalEnded)), &end); err != nil {
		t.Fatal(err)
	}
	return end.Error
}

func viewTerminal(t testing.TB, x *Terminals, id protocol.TerminalID) net.Conn {
	t.Helper()
	return request(t, x, protocol.TerminalRequest{Do: protocol.TerminalDoView, ID: id})
}

func TestSlowViewerGetsASnapshotInsteadOfWhatItMissed(t *testing.T) {
	x := newTerminals(t)
	if why := open(t, x, "one", protocol.TerminalOpen{Command: "seq 1 300000; echo last; exec cat"}); why != "" {
		t.Fatal(why)
	}
	slow := viewTerminal(t, x, "one") // does not read
	fast := viewTerminal(t, x, "one")
	for text := ""; !strings.Contains(text, "last"); {
		kind, body, err := tunnel.ReadFrame(fast, protocol.MaxTerminalFrame)
		if err != nil {
			t.Fatal(err)
		}
		if text += string(body); kind == protocol.TerminalSnapshot {
			text = string(body)
		}
	}
	total, snapshots := 0, 0
	for text := ""; !strings.Contains(text, "last"); {
		kind, body, err := tunnel.ReadFrame(slow, protocol.MaxTerminalFrame)
		if err != nil {
			t.Fatal(err)
		}
		total += len(body)
		if text += string(body); kind == protocol.TerminalSnapshot {
			text, snapshots = string(body), snapshots+1
		}
	}
	if total > 1<<20 || snapshots == 0 {
		t.Errorf("got %d bytes with %d snapshots, want less than the 2 MB of the program, and a snapshot", total, snapshots)
	}
}

func TestProgramIsAnsweredOnce(t *testing.T) {
	x := newTerminals(t)
	if why := open(t, x, "one", protocol.TerminalOpen{Command: `stty -echo -icanon min 1; printf '\033[6n'; head -c 6 | od -An -c; echo asked; exec cat`}); why != "" {
		t.Fatal(why)
	}
	conn := viewTerminal(t, x, "one")
	text := next(t, conn, protocol.TerminalSnapshot)
	for !strings.Contains(text, "asked") {
		text += next(t, conn, protocol.TerminalOutput)
	}
	if !strings.Contains(text, "033   [   1   ;   1   R") || strings.Contains(text, "\x1b[6n") {
		t.Errorf("got %q, want the answer of the screen, and no question for viewers", text)
	}
}

func TestClosingEndsWhatIgnoresTheHangUp(t *testing.T) {
	x := newTerminals(t)
	if why := open(t, x, "one", protocol.TerminalOpen{Command: "trap '' HUP; echo pid $$; while :; do sleep 1; done"}); why != "" {
		t.Fatal(why)
	}
	conn := viewTerminal(t, x, "one")
	text := next(t, conn, protocol.TerminalSnapshot)
	line := regexp.MustCompile(`pid (\d+)\D`) // a snapshot has a sequence after it
	for !line.MatchString(text) {
		text += next(t, conn, protocol.TerminalOutput)
	}
	pid, _ := strconv.Atoi(line.FindStringSubmatch(text)[1])
	next(t, request(t, x, protocol.TerminalRequest{Do: protocol.TerminalDoClose, ID: "one"}), protocol.TerminalEnded)
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the program still runs")
	}
	if list := x.List(); len(list) != 0 {
		t.Errorf("got the list %+v, want it empty", list)
	}
}

func TestTerminalStartsInTheFolderOfItsUser(t *testing.T) {
	x := newTerminals(t)
	home := os.Getenv("HOME")
	os.Mkdir(home+"/work", 0o700)
	for workdir, want := range map[string]string{"": home, "work": home + "/work", "~/work": home + "/work", home: home} {
		id := protocol.TerminalID("in-" + workdir)
		if why := open(t, x, id, protocol.TerminalOpen{Command: "pwd; echo $TERM $COLORTERM; exec cat", Workdir: workdir, Cols: 200}); why != "" {
			t.Fatal(why)
		}
		conn := viewTerminal(t, x, id)
		text := next(t, conn, protocol.TerminalSnapshot)
		for !strings.Contains(text, "truecolor") {
			text += next(t, conn, protocol.TerminalOutput)
		}
		if !strings.Contains(text, want) || !strings.Contains(text, "xterm-256color truecolor") {
			t.Errorf("the folder %q: got %q, want %s", workdir, text, want)
		}
	}
	for why, o := range map[string]protocol.TerminalOpen{"does not exist": {Workdir: "none"}, "user": {Username: "nobody-like-this"}} {
		if got := open(t, x, "bad", o); !strings.Contains(got, why) {
			t.Errorf("%+v: got %q, want %q in it", o, got, why)
		}
	}
}

// BenchmarkIdleTerminals measures the memory of 200 terminals with a full history, without that of
// their programs.
func BenchmarkIdleTerminals(b *testing.B) {
	const n = 200
	x := newTerminals(b)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range n {
			if why := open(b, x, protocol.TerminalID(fmt.Sprint(i)), protocol.TerminalOpen{Command: "seq 1 3000; exec sleep 1000", Cols: 200, Rows: 60}); why != "" {
				b.Fatal(why)
			}
		}
		polltest.Until(b, "all have printed", func() bool {
			for i := range n {
				d := x.find(protocol.TerminalID(fmt.Sprint(i)))
				d.mu.Lock()
				lines := d.screen.HistoryLines()
				d.mu.Unlock()
				if lines < protocol.TerminalHistory {
					return false
				}
			}
			return true
		})
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n/1e6, "MB/terminal")
		var ends sync.WaitGroup
		for _, info := range x.List() {
			ends.Go(func() { x.close(b.Context(), info.ID, x.find(info.ID)) })
		}
		ends.Wait()
	}
}
