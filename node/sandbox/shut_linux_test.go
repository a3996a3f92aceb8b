package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/sandbox"
)

func TestNetworkBlockedLeavesNoSocket(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		tcp, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		port := tcp.Addr().(*net.TCPAddr).Port
		outside := k.short()
		sock, err := net.Listen("unix", filepath.Join(outside, "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer sock.Close()
		grams, err := net.ListenPacket("unixgram", filepath.Join(outside, "d"))
		if err != nil {
			t.Fatal(err)
		}
		defer grams.Close()
		bash := need(t, "bash")
		s := k.spec("")
		s.Argv = []string{bash, "-c", fmt.Sprintf("echo x >/dev/tcp/127.0.0.1/%d", port)}
		if out, e := k.run(s); e.Code == 0 {
			t.Errorf("/dev/tcp of bash without the network: got success (%s), want a failure", out)
		}
		s.Profile.Network = sandbox.NetAllowed
		if out, e := k.run(s); e.Code != 0 {
			t.Errorf("/dev/tcp of bash with the network: got a failure (%s), want success", out)
		}
		python := need(t, "/usr/bin/python3")
		s = k.spec("")
		for _, c := range []string{
			fmt.Sprintf("socket.create_connection(('127.0.0.1',%d))", port),
			fmt.Sprintf("socket.socket(socket.AF_INET,socket.SOCK_STREAM,262).connect(('127.0.0.1',%d))", port),
			"socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b'x',('127.0.0.1',53))",
			"socket.socket(socket.AF_INET6,socket.SOCK_DGRAM)",
			"socket.socket(socket.AF_INET,socket.SOCK_RAW,1)",
			"socket.socket(socket.AF_NETLINK,socket.SOCK_RAW,0)",
			"socket.socket(socket.AF_PACKET,socket.SOCK_RAW,0)",
			"socket.socket(socket.AF_VSOCK,socket.SOCK_STREAM)",
			"socket.getaddrinfo('example.com',80)",
			"socket.socket(socket.AF_UNIX).connect('" + filepath.Join(outside, "s") + "')",
			"socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM).sendto(b'x','" + filepath.Join(outside, "s") + "')",
			"socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM).sendmsg([b'x'],[],0,'" + filepath.Join(outside, "d") + "')",
			"socket.socket(socket.AF_UNIX,socket.SOCK_RAW).sendmsg([b'x'],[],0,'" + filepath.Join(outside, "d") + "')",
			"socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM)[0].sendmsg([b'x'],[],0,'" + filepath.Join(outside, "d") + "')",
		} {
			s.Argv = []string{python, "-c", "import socket,sys\ntry:\n " + c + "\nexcept OSError as e:\n print(e); sys.exit(7)"}
			if out, e := k.run(s); e.Code != 7 {
				t.Errorf("%s: exit %d %s, want 7", c, e.Code, out)
			}
		}
		s.Argv = []string{python, "-c", "import socket\na,b=socket.socketpair()\na.send(b'x')\nb.recv(1)\na.sendall(b'y')"}
		if out, e := k.run(s); e.Code != 0 {
			t.Errorf("a pair of sockets: got %s, want exit 0", out)
		}
	})
}

func TestNoPrivilegesAreLeft(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		out, e := k.run(k.spec("grep -E '^(CapEff|CapPrm|CapInh|NoNewPrivs|Seccomp):' /proc/self/status"))
		if e.Code != 0 {
			t.Fatalf("got %v; want Code 0", out)
		}
		for line := range strings.Lines(out) {
			f := strings.Fields(line)
			want := map[string]string{"NoNewPrivs:": "1", "Seccomp:": "2"}[f[0]]
			if want == "" {
				want = "0000000000000000"
			}
			if f[1] != want {
				t.Errorf("%s, want %s", strings.TrimSpace(line), want)
			}
		}
		if out, e := k.run(k.spec(fmt.Sprintf("kill -0 %d || kill -9 %d", os.Getpid(), os.Getppid()))); e.Code == 0 && k.box.Report().Check(sandbox.CheckSignal).Enforced {
			t.Errorf("signalling the node: got success (%s), want a failure", out)
		}
		if prlimit, err := exec.LookPath("prlimit"); err == nil {
			if out, e := k.run(k.spec(fmt.Sprintf("%s --pid $$ --nofile=64; %s --pid %d --core=0", prlimit, prlimit, os.Getpid()))); e.Code == 0 {
				t.Errorf("changing the limits of the node: got success (%s), want a failure", out)
			}
		}
		if out, e := k.run(k.spec("ls -l /proc/self/fd")); e.Code != 0 || strings.Contains(out, "socket:") {
			t.Errorf("open descriptors: got %s, want no sockets", out)
		}
	})
}

func TestSocketsOfTheSessionAreOnlyForFullMode(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		t.Setenv("SSH_AUTH_SOCK", "/run/agent")
		s := k.spec(`echo "$SSH_AUTH_SOCK"`)
		if out, _ := k.run(s); out != "" {
			t.Errorf(`contained: got %q, want ""`, out)
		}
		s.Profile.Mode = sandbox.Full
		if out, _ := k.run(s); out != "/run/agent" {
			t.Errorf("in full mode: got %q, want /run/agent", out)
		}
	})
}
