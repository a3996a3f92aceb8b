//go:build unix

package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/sandbox"
)

// kills is the number of times that the test kills the gateway.
const kills = 200

// childHome, if set, makes the test binary a gateway with a node on that data folder, until it is
// killed.
const childHome = "FAIRLEAD_TEST_CHILD_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(childHome); home != "" {
		runChild(home)
		return
	}
	if url := os.Getenv(childNode); url != "" {
		runNode(url)
		return
	}
	if url := os.Getenv(childEnds); url != "" {
		runEnds(url)
		return
	}
	if home := os.Getenv(childDaily); home != "" || isSandboxHelper() {
		sandbox.Main()
		runDaily(home)
		return
	}
	os.Exit(run(m))
}

// isSandboxHelper reports whether the sandbox has started this program: test programs have flags only.
func isSandboxHelper() bool { return len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") }

// run gives commands, which login shells run, a home without the person's profile: such a profile
// may wait for a lock that a killed shell has left.
func run(m *testing.M) int {
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("HOME", home)
	os.Setenv("LC_ALL", "C") // a shell warns of a missing locale
	return m.Run()
}

func runChild(home string) {
	ctx := context.Background()
	fail := func(err error) {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.Open(ctx, gateway.Options{Home: home, Listen: cmp.Or(os.Getenv(childListen), "127.0.0.1:0"), Logger: log})
	if err != nil {
		fail(err)
	}
	n, err := node.New(node.Options{ID: "laptop", Workspace: home, Dial: g.Dial, LogDir: g.LogDir(), Logger: log, Version: "test"})
	if err != nil {
		fail(err)
	}
	fail(serveChild(ctx, g, n))
}

// serveChild runs a gateway and its node, and prints the address once they are connected: a command
// that a chat should run before that never runs. It returns why they ended.
func serveChild(ctx context.Context, g *gateway.Gateway, n *node.Node) error {
	go n.Run(ctx)
	over := make(chan error, 1)
	go func() { over <- g.Run(ctx) }()
	if err := hasMachine(ctx, g); err != nil {
		return err
	}
	fmt.Println("ready", g.URL())
	return <-over
}

// hasMachine waits until the gateway's machine is connected.
func hasMachine(ctx context.Context, g *gateway.Gateway) error {
	ctx, cancel := context.WithCancel(ctx)
	c := client.New(client.Options{URL: "ws://memory/ws", Dial: g.Dial, Connect: func() protocol.ConnectParams { return gateway.ClientParams("looks") }})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { c.Run(ctx) })
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		r, err := client.Call(ctx, c, protocol.NodesList, protocol.Empty{})
		if err == nil && slices.ContainsFunc(r.Nodes, func(n protocol.NodeInfo) bool { return n.Online }) {
			return nil
		}
	}
	return errors.New("the machine does not come")
}

// child is a gateway in a process of its own.
type child struct {
	cmd *exec.Cmd
	url string
}

func startChild(t *testing.T, home string, env ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childHome+"="+home, "FAIRLEAD_TOKEN=kill-test", "FAIRLEAD_SECRETS=file", "FAIRLEAD_HOME="+home)
	cmd.Env = append(cmd.Env, env...)
	return startProgram(t, cmd)
}

// startProgram starts this program as a gateway, and returns when it is ready.
func startProgram(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(out)
	if !scan.Scan() {
		t.Fatalf("the gateway ended before it was ready: %v", cmd.Wait())
	}
	url, ok := strings.CutPrefix(scan.Text(), "ready ")
	if !ok {
		cmd.Process.Kill()
		t.Fatalf("the gateway did not start: %s", scan.Text())
	}
	return &child{cmd: cmd, url: url}
}

func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// dial connects a client; the returned function ends it.
func dial(t *testing.T, url string) (*client.Client, func()) {
	t.Helper()
	up := make(chan struct{}, 8)
	c := client.New(client.Options{
		URL: url, Token: "kill-test", Logger: slog.New(slog.DiscardHandler),
		Connect: func() protocol.ConnectParams { return gateway.ClientParams("test-" + protocol.NewID()) },
		OnUp: func(context.Context, protocol.ConnectResult) {
			select {
			case up <- struct{}{}:
			default:
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop := func() {
		cancel()
		<-done
	}
	select {
	case <-up:
	case <-time.After(3 * time.Minute):
		stop()
		t.Fatal("no connection")
	}
	return c, stop
}

func TestNoAcknowledgedMessageIsLostByKill(t *testing.T) {
	home := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	sessions := []protocol.SessionKey{protocol.MainSession, "agent:main:app:chat:a", "agent:main:app:chat:b"}
	acked := make(map[string]protocol.SessionKey)
	started := time.Now()
	for i := range kills {
		c := startChild(t, home)
		conn, stop := dial(t, c.url)
		// A subscriber to the feed has its messages queued while a run waits for an approval, as
		// windows do.
		if _, err := client.Call(t.Context(), conn, protocol.FeedSubscribe, protocol.Empty{}); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex // guards acked
		some := make(chan struct{}, 4*len(sessions))
		var wg sync.WaitGroup
		for w, key := range sessions {
			wg.Go(func() {
				for n := 0; ; n++ {
					text := fmt.Sprintf("run echo %d-%d-%d", i, w, n)
					if n%2 == 0 {
						text = fmt.Sprintf("what can you do %d-%d-%d", i, w, n)
					}
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					res, err := client.Call(ctx, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: text})
					cancel()
					if err != nil {
						return // killed
					}
					if res.Status != protocol.ChatStarted {
						t.Errorf("%q was answered with status %q, want %q", text, res.Status, protocol.ChatStarted)
						return
					}
					mu.Lock()
					acked[text] = key
					mu.Unlock()
					some <- struct{}{}
					if n == 3 {
						return
					}
				}
			})
		}
		// The moment of the kill is random: after some acknowledgements, however fast the machine
		// is, and a little later.
		for late, n := time.After(3*time.Minute), rng.IntN(5); n > 0; n-- {
			select {
			case <-some:
			case <-late:
				n = 1
			}
		}
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		c.kill()
		wg.Wait()
		stop()
		if t.Failed() {
			return
		}
		if i%50 == 49 {
			checkAcked(t, home, acked)
		}
	}
	t.Logf("%d kills, %d acknowledged messages, %s", kills, len(acked), time.Since(started).Round(time.Second))
	if len(acked) < kills {
		t.Errorf("only %d messages were acknowledged: the test kills too early to prove anything, want at least %d", len(acked), kills)
	}
}

// checkAcked starts the gateway once more and looks for every acknowledged message, stored or
// queued.
func checkAcked(t *testing.T, home string, acked map[string]protocol.SessionKey) {
	t.Helper()
	c := startChild(t, home)
	defer c.kill()
	conn, stop := dial(t, c.url)
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	snap, err := client.Call(ctx, conn, protocol.FeedSubscribe, protocol.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, r := range snap.Runs {
		found[r.Message] = true
	}
	seen := make(map[protocol.SessionKey]bool)
	for _, key := range acked {
		if seen[key] {
			continue
		}
		seen[key] = true
		p, err := client.Call(ctx, conn, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key})
		if err != nil && !errors.Is(err, protocol.ErrNotFound) {
			t.Fatalf("got %v; want no error or error ErrNotFound", err)
		}
		for _, m := range p.Messages {
			if m.Role == protocol.RoleUser {
				found[m.Content.Text()] = true
			}
		}
	}
	lost := 0
	for text := range acked {
		if !found[text] {
			if lost++; lost <= 5 {
				t.Errorf("acknowledged and lost: %q", text)
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged messages are lost", lost, len(acked))
	}
}
