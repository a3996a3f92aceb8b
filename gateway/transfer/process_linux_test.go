package transfer_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/direct"
)

// Environment variables that make the test binary a gateway or a node.
const (
	childRole = "FAIRLEAD_TRANSFER_ROLE" // gateway or node
	childDir  = "FAIRLEAD_TRANSFER_DIR"
	childAddr = "FAIRLEAD_TRANSFER_ADDR"
	childID   = "FAIRLEAD_TRANSFER_ID"
	childVia  = "FAIRLEAD_TRANSFER_VIA" // the address that a node dials in place of the gateway's
)

func init() {
	child = func() bool {
		if os.Getenv(childRole) == "" {
			return false
		}
		runChild()
		return true
	}
}

func runChild() {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	if os.Getenv(childRole) == "gateway" {
		g, err := gateway.Open(ctx, gateway.Options{Home: os.Getenv(childDir), Listen: os.Getenv(childAddr), Logger: log})
		if err == nil {
			fmt.Println("ready")
			err = g.Run(ctx)
		}
		fmt.Println(err)
		os.Exit(1)
	}
	options := node.Options{
		ID: protocol.NodeID(os.Getenv(childID)), Workspace: os.Getenv(childDir), Home: os.Getenv(childDir) + ".home", URL: "ws://" + os.Getenv(childAddr) + "/ws", Token: "fl_transfer",
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", os.Getenv(childVia))
		},
	}
	if rand.IntN(2) == 0 { // so that some of the transfers between the nodes are direct
		options.Direct = &direct.Connector{Networks: func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")} }}
	}
	n, err := node.New(options)
	if err == nil {
		fmt.Println("ready")
		err = n.Run(ctx)
	}
	fmt.Println(err)
	os.Exit(1)
}

// process is a gateway or node that is killed and restarted.
type process struct {
	env []string
	ns  string // network namespace; empty means this one
	cmd *exec.Cmd
}

func (p *process) start(t testing.TB) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{exe, "-test.run=^$"}
	if p.ns != "" {
		args = append([]string{"ip", "netns", "exec", p.ns}, args...)
	}
	for try := 1; ; try++ {
		p.cmd = exec.Command(args[0], args[1:]...)
		p.cmd.Env = append(os.Environ(), p.env...)
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(out)
		if scan.Scan() && scan.Text() == "ready" {
			return
		}
		p.kill()
		if try == 20 { // its address may still be in use
			t.Fatalf("%v: got %s, want it started", p.env, scan.Text())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// describeTree returns the names, sizes and checksums of a tree.
func describeTree(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		out = append(out, fmt.Sprintf("%s %x", rel, sum(t, p)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func clientOf(t *testing.T, addr string) *client.Client {
	t.Helper()
	c := client.New(client.Options{URL: "ws://" + addr + "/ws", Token: "fl_transfer", Connect: func() protocol.ConnectParams { return gateway.ClientParams("test") }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c
}
