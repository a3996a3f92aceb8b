//go:build unix

package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// BenchmarkForward moves 1 GiB through a connection: directly, through a forward to a paired machine,
// and through ssh -L, in both directions, and opens connections one after the other.
func BenchmarkForward(b *testing.B) {
	f := newForwarding(b)
	down := serveTCP(b, func(c *net.TCPConn) { io.Copy(c, io.LimitReader(zeros{}, 1<<30)) })
	up := serveTCP(b, func(c *net.TCPConn) {
		io.Copy(io.Discard, c)
		c.Write([]byte{1})
	})
	echo := serveTCP(b, func(c *net.TCPConn) { io.Copy(c, c) })
	ways := []struct {
		name    string
		through func(b *testing.B, target string) (address string)
	}{
		{"direct", func(_ *testing.B, target string) string { return target }},
		{"fairlead", func(b *testing.B, target string) string {
			w := f.forward(target)
			receiveFrom(b, w.info)
			return w.address
		}},
		{"ssh", sshForward(b)},
	}
	for _, w := range ways {
		b.Run("down/"+w.name, func(b *testing.B) {
			address := w.through(b, down)
			b.SetBytes(1 << 30)
			for b.Loop() {
				if n, err := io.Copy(io.Discard, (&opened{address: address}).dial(b)); n != 1<<30 {
					b.Fatalf("got %d bytes, %v", n, err)
				}
			}
		})
		b.Run("up/"+w.name, func(b *testing.B) {
			address := w.through(b, up)
			b.SetBytes(1 << 30)
			for b.Loop() {
				c := (&opened{address: address}).dial(b)
				io.Copy(c, io.LimitReader(zeros{}, 1<<30))
				c.CloseWrite()
				if n, err := io.Copy(io.Discard, c); n != 1 {
					b.Fatalf("got %d bytes, %v", n, err)
				}
			}
		})
		b.Run("connection/"+w.name, func(b *testing.B) {
			address := w.through(b, echo)
			for b.Loop() {
				c := (&opened{address: address}).dial(b)
				pass(b, c)
				c.Close()
			}
		})
	}
}

// sshForward starts an sshd of its own and returns a function that forwards ports through it.
func sshForward(b *testing.B) func(b *testing.B, target string) string {
	dir, port := b.TempDir(), ""
	if sshd, err := exec.LookPath("sshd"); err == nil {
		os.MkdirAll("/run/sshd", 0o755)
		for _, name := range []string{"host", "user"} {
			if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
				b.Fatalf("ssh-keygen: %v: %s", err, out)
			}
		}
		_, port, _ = net.SplitHostPort(porttest.Free(b))
		config := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\n", port, filepath.Join(dir, "host"), filepath.Join(dir, "user.pub"))
		if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
			b.Fatal(err)
		}
		startCommand(b, sshd, "-D", "-f", filepath.Join(dir, "config"))
	}
	return func(b *testing.B, target string) string {
		if port == "" {
			b.Skip("there is no sshd to compare with")
		}
		address := porttest.Free(b)
		startCommand(b, "ssh", "-N", "-p", port, "-i", filepath.Join(dir, "user"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-F", "none", "-L", address+":"+target, "127.0.0.1")
		polltest.Until(b, "ssh -L listens", func() bool {
			c, err := net.Dial("tcp", address)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		return address
	}
}

// startCommand runs a command until the benchmark ends.
func startCommand(b *testing.B, name string, args ...string) {
	b.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

// BenchmarkInvokeBesideForward calls a tool 100 times a second while a forward to the same machine
// moves bytes as fast as it can.
func BenchmarkInvokeBesideForward(b *testing.B) {
	f := newForwarding(b)
	w := f.forward(serveTCP(b, func(c *net.TCPConn) { io.Copy(c, zeros{}) }))
	receiveFrom(b, w.info)
	call := func() {
		args := []byte(`{"pattern":"*"}`)
		if _, err := client.Call(b.Context(), f.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Glob", Args: args}); err != nil && !errors.Is(err, context.Canceled) {
			b.Error(err)
		}
	}
	for name, bulk := range map[string]bool{"alone": false, "beside": true} {
		b.Run(name, func(b *testing.B) {
			if bulk {
				c := w.dial(b)
				defer c.Close()
				go io.Copy(io.Discard, c)
			}
			var took []time.Duration
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for b.Loop() {
				<-tick.C
				began := time.Now()
				call()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			report(b, took)
		})
	}
}
