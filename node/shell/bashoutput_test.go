//go:build unix

package shell

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func TestOutputThatNobodyReadYetIsNotLost(t *testing.T) {
	for _, open := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		fmt.Fprint(w, "left behind")
		if !open {
			w.Close()
		}
		reader := make(chan struct{})
		close(reader) // the deadline passed before the reader ran
		var o output
		if got := drain(r, 0, reader, &o); got != open {
			t.Errorf("still open: %v, want %v", got, open)
		}
		if s := o.snapshot().text; s != "left behind" {
			t.Errorf("got %q, want %q", s, "left behind")
		}
		w.Close()
	}
}

func TestProgressIsPacedAndHasTheTail(t *testing.T) {
	useShell(t)
	b := newBench(t)
	var mu sync.Mutex
	var times []time.Time
	var last string
	var bytes int64
	call := access.Call{Progress: func(tail string, n int64) {
		mu.Lock()
		defer mu.Unlock()
		times, last, bytes = append(times, time.Now()), tail, n
	}}
	began := time.Now()
	if _, err := tooltest.CallContext[bashOut](t.Context(), call, b.Bench, "Bash", tooltest.Args{"command": "for i in 1 2 3 4 5 6 7 8; do printf 'é%05000d' $i; sleep 0.08; done"}); err != nil {
		t.Fatal(err)
	}
	most := int(time.Since(began)/progressEvery) + 1
	if len(times) == 0 || len(times) > most {
		t.Errorf("%d reports, want 1 to %d", len(times), most)
	}
	if utf8.RuneCountInString(last) > maxTail || !utf8.ValidString(last) || bytes < int64(len(last)) {
		t.Errorf("got %d characters of %d bytes, want at most %d", utf8.RuneCountInString(last), bytes, maxTail)
	}
}

func TestOutputBeyondTheLimitKeepsTheTail(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for _, c := range []struct {
		command   string
		chars     int
		truncated bool
	}{
		{"head -c 200000 /dev/zero | tr '\\0' a", 200_000, false},
		{"head -c 200001 /dev/zero | tr '\\0' a", 200_000, true},
		{"head -c 200001 /dev/zero | sed 's/\\x00/é/g'", 200_000, true},
		{"head -c 3000000 /dev/zero | tr '\\0' a; printf END", 200_000, true},
	} {
		t.Run(c.command, func(t *testing.T) {
			out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": c.command})
			if n := utf8.RuneCountInString(out.Output); n != c.chars || out.Truncated != c.truncated || !utf8.ValidString(out.Output) {
				t.Errorf("%s: got %d characters, truncated %v; want %d, %v", c.command, n, out.Truncated, c.chars, c.truncated)
			}
			if utf8.RuneCountInString(out.Tail) != maxTail || !strings.HasSuffix(out.Output, out.Tail) {
				t.Errorf("%s: got a tail that is not the end of the output, want its last characters", c.command)
			}
		})
	}
}

func TestInvalidBytesAreShownNotFatal(t *testing.T) {
	useShell(t)
	b := newBench(t)
	raw, err := b.Tools["Bash"].Call(t.Context(), access.Call{}, json.RawMessage(`{"command":"printf 'a\\377b\\303'; printf '\\251c'"}`))
	var out bashOut
	if err != nil || !utf8.Valid(raw) || json.Unmarshal(raw, &out) != nil || out.Output != "a\uFFFDb\u00e9c" {
		t.Errorf(`got %q, %v; want no error, valid JSON and UTF-8, and Output "a\uFFFDb\u00e9c"`, out.Output, err)
	}
}

func TestManyCommandsAtOnceKeepTheirOutputApart(t *testing.T) {
	useShell(t)
	b := newBench(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			out, err := tooltest.Call[bashOut](b.Bench, "Bash", tooltest.Args{"command": fmt.Sprintf("echo %d", i)})
			if err != nil || out.Output != fmt.Sprintf("%d\n", i) {
				t.Errorf("%d: got %+v, %v; want no error and Output %v", i, out, err, fmt.Sprintf("%d\n", i))
			}
		})
	}
	wg.Wait()
	b.jobs.wg.Wait() // a call returns before the table has removed its job
	if len(b.jobs.jobs) != 0 {
		t.Errorf("got %d jobs, want none", len(b.jobs.jobs))
	}
	takeForeground(t, b.jobs)()
}
