//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision"
	"fairlead/gateway/provision/contract"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ssh-provider" {
		main()
		return
	}
	os.Exit(m.Run())
}

// startServer starts an SSH server whose sessions have the returned home folder, and returns the
// options with which ssh reaches it.
func startServer(t *testing.T) (home, options string) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		t.Skip("no SSH server:", err)
	}
	dir := t.TempDir()
	home = t.TempDir()
	for _, name := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	os.MkdirAll("/run/sshd", 0o755) // if it cannot be made, the server says so
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nSetEnv HOME=%[3]s\n", port, dir, home)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(dir, "config"))
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	polltest.Until(t, "the server", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return home, fmt.Sprintf("-F none -p %d -i %s/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=%[2]s/known", port, dir)
}

// providers returns a folder with this provider.
func providers(t *testing.T) provision.Folder {
	t.Helper()
	dir := t.TempDir()
	exe, err := os.Executable()
	if err == nil {
		err = os.Symlink(exe, filepath.Join(dir, "ssh-provider"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return provision.Folder(dir)
}

func TestTheProviderKeepsToTheContract(t *testing.T) {
	_, options := startServer(t)
	settings := map[string]string{"hosts": "other=nowhere fairlead-check=127.0.0.1", "ssh": options}
	err := provision.Check(t.Context(), providers(t), "ssh-provider", settings, true, func(name string, err error) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDeleteEndsTheNodeAndRemovesItsFiles(t *testing.T) {
	home, options := startServer(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	r := contract.Request{
		Action: contract.Create, TaskID: protocol.NewID(), NodeName: "127.0.0.1", Settings: map[string]string{"ssh": options},
		Install: `mkdir -p "$FAIRLEAD_BIN" && cp ` + sleep + ` "$FAIRLEAD_BIN/fairlead-node" && { "$FAIRLEAD_BIN/fairlead-node" 3600 >/dev/null 2>&1 </dev/null & echo $! >"$HOME/pid"; }`,
	}
	run := func() {
		t.Helper()
		if _, err := providers(t).Run(t.Context(), "ssh-provider", r, nil, func(contract.Line) {}); err != nil {
			t.Fatal(err)
		}
	}
	run()
	pid, err := os.ReadFile(filepath.Join(home, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	process := filepath.Join("/proc", strings.TrimSpace(string(pid)), "exe")
	if _, err := os.Readlink(process); err != nil {
		t.Fatalf("the node does not run: %v", err)
	}
	r.Action, r.Install = contract.Delete, ""
	run()
	polltest.Until(t, "the end of the node", func() bool {
		_, err := os.Readlink(process)
		return err != nil
	})
	if left, _ := filepath.Glob(filepath.Join(home, ".fairlead", "*")); len(left) > 0 {
		t.Errorf("got left files %v, want none", left)
	}
}

func TestAHostIsNeverAnOption(t *testing.T) {
	for name, hosts := range map[string]string{"-oProxyCommand=x": "", "a": "a=-oProxyCommand=x", "": ""} {
		if host, err := hostOf(contract.Request{NodeName: name, Settings: map[string]string{"hosts": hosts}}); err == nil {
			t.Errorf("%q with %q: got %s, want an error", name, hosts, host)
		}
	}
}
