//go:build unix

package shell

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// reader collects the output of a server.
type reader struct {
	mu       sync.Mutex // guards the fields below
	out, err []byte
	started  bool
	broken   error // what the gateway answers
}

func (r *reader) chunk(_ context.Context, raw json.RawMessage) error {
	var p servePart
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = r.started || p.Started
	r.out, r.err = append(r.out, p.Out...), append(r.err, p.Err...)
	return r.broken
}

func (r *reader) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		done := ok()
		r.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got nothing in time, want %s", what)
		}
	}
}

type finishedCommand struct {
	out serveOut
	err error
}

// startServer runs a command line, and returns its output and its end.
func startServer(t *testing.T, in serveIn) (tool toolkit.Tool[access.Call], r *reader, stop func(), over chan finishedCommand) {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	jobs := NewJobs(JobOptions{})
	t.Cleanup(jobs.Close)
	tool, r, over = Serve(ws, jobs), &reader{}, make(chan finishedCommand, 1)
	ctx, cancel := context.WithCancel(t.Context())
	raw, _ := json.Marshal(in)
	var wg sync.WaitGroup
	wg.Go(func() {
		result, err := tool.Call(ctx, access.Call{ID: "c1", Direct: true, Chunk: r.chunk}, raw)
		var out serveOut
		json.Unmarshal(result, &out)
		over <- finishedCommand{out, err}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return tool, r, cancel, over
}

func TestAServersBytesAreExact(t *testing.T) {
	tool, r, _, over := startServer(t, serveIn{Command: `sh -c 'echo "to stderr $MORE" >&2; cat; exit 4'`, Env: map[string]string{"MORE": "and more"}})
	r.until(t, "its start", func() bool { return r.started })
	var all []byte
	for i := range 400 { // every byte, invalid UTF-8 and escape sequences among them
		part := make([]byte, 997)
		for j := range part {
			part[j] = byte(i*7 + j)
		}
		all = append(all, part...)
		in, _ := json.Marshal(serveIn{Session: "c1", Input: base64.StdEncoding.EncodeToString(part)})
		if _, err := tool.Call(t.Context(), access.Call{ID: "c2", Direct: true}, in); err != nil {
			t.Fatal(err)
		}
	}
	r.until(t, "its output", func() bool { return len(r.out) >= len(all) })
	r.mu.Lock()
	if string(r.out) != string(all) || string(r.err) != "to stderr and more\n" {
		t.Errorf("got %d bytes and stderr %q, want the %d bytes of input", len(r.out), r.err, len(all))
	}
	r.mu.Unlock()
	select {
	case e := <-over:
		t.Errorf("it ended early: %+v, want it to run on", e)
	default:
	}
}

func TestAServerEndsWithItsCallAndItsReader(t *testing.T) {
	// its input is closed first, so that it can end well
	dir := t.TempDir()
	_, r, stop, over := startServer(t, serveIn{Command: `sh -c 'cat; echo bye > said'`, Workdir: dir})
	r.until(t, "its start", func() bool { return r.started })
	stop()
	<-over
	if said, err := os.ReadFile(filepath.Join(dir, "said")); string(said) != "bye\n" {
		t.Errorf("got %q, error %v, want bye", said, err)
	}
	// nobody reads it
	_, r, _, over = startServer(t, serveIn{Command: `sh -c 'while :; do echo x; sleep 0.01; done'`})
	r.until(t, "its output", func() bool { return len(r.out) > 10 })
	r.mu.Lock()
	r.broken = errors.New("nobody reads the result any more")
	r.mu.Unlock()
	if e := <-over; e.err == nil || !strings.Contains(e.err.Error(), "nobody reads") {
		t.Errorf("it ended with %+v, want an error that nobody reads", e)
	}
	// it ignores everything
	_, r, stop, over = startServer(t, serveIn{Command: `sh -c 'trap "" TERM; while :; do sleep 0.05; done'`})
	r.until(t, "its start", func() bool { return r.started })
	stop()
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

func TestAServerThatEndsReportsItsCode(t *testing.T) {
	_, _, _, over := startServer(t, serveIn{Command: `sh -c 'exit 4'`})
	if e := <-over; e.err != nil || e.out.ExitCode == nil || *e.out.ExitCode != 4 {
		t.Errorf("it ended with %+v, want exit code 4", e)
	}
}

// TestShownCommandIsTheOneThatRuns refuses command lines that a shell would read in another way.
func TestShownCommandIsTheOneThatRuns(t *testing.T) {
	for _, line := range []string{"", "echo $HOME", "echo a; rm -rf x", `echo "a b"`, "echo  a", "no-such-program-here", "A=b echo"} {
		_, r, _, over := startServer(t, serveIn{Command: line})
		e := <-over
		if _, ok := errors.AsType[*protocol.Fault](e.err); !ok || r.started {
			t.Errorf("%q: got %+v; want ok and not started", line, e)
		}
	}
	tool, _, _, over := startServer(t, serveIn{Command: "true", Server: "../x"})
	if e := <-over; e.err == nil {
		t.Error("a server has a folder elsewhere")
	}
	if _, err := tool.Call(t.Context(), access.Call{ID: "c3", Direct: true}, json.RawMessage(`{"session":"c9","input":""}`)); err == nil {
		t.Error("a server that does not exist takes input")
	}
}

func TestOnlyThePersonStartsServers(t *testing.T) {
	tool, _, cancel, over := startServer(t, serveIn{Command: "sleep 60"})
	for _, in := range []string{`{"command":"true","env":{"LD_PRELOAD":"x.so"}}`, `{"session":"c1","input":""}`} {
		_, err := tool.Call(t.Context(), access.Call{ID: "c4"}, json.RawMessage(in))
		if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultPermissionDenied {
			t.Errorf("%s: got %v, want %s", in, err, protocol.FaultPermissionDenied)
		}
	}
	cancel()
	<-over
}

// TestAServerIsFetchedBeforeItStarts runs a command that fetches a program, and then the program.
func TestAServerIsFetchedBeforeItStarts(t *testing.T) {
	dir := t.TempDir()
	_, r, _, over := startServer(t, serveIn{Fetch: `sh -c 'echo fetching; echo "echo fetched" > prog; cat'`, Command: "sh prog", Workdir: dir})
	if end := <-over; end.err != nil || *end.out.ExitCode != 0 {
		t.Errorf("the end: got %+v, want exit code 0", end)
	}
	out, failed := string(r.out), string(r.err) // the call has ended
	if out != "fetched\n" || failed != "fetching\n" {
		t.Errorf(`got output %q and errors %q; want "fetched\n" and failed "fetching\n"`, out, failed)
	}
	_, r, _, over = startServer(t, serveIn{Fetch: `sh -c 'echo offline >&2; exit 3'`, Command: "sh prog", Workdir: dir})
	<-over
	if out, failed = string(r.out), string(r.err); out != "fetched\n" || !strings.HasPrefix(failed, "offline\nThe package could not be fetched.") {
		t.Errorf("after a failure: got output %q and errors %q, want the package and both messages", out, failed)
	}
}

func TestLaunchersOfAServerWithoutNetworkKnowThat(t *testing.T) {
	print := func(step string) string {
		return `sh -c 'echo "` + step + ` $UV_OFFLINE $npm_config_offline $PIP_ONLY_BINARY $PIPX_DEFAULT_BACKEND"'`
	}
	_, r, _, over := startServer(t, serveIn{Fetch: print("fetch"), Command: print("run"), Env: map[string]string{"npm_config_offline": "mine"}})
	<-over
	if got, want := string(r.err)+string(r.out), "fetch  mine :all: pip\nrun 1 mine  pip\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
