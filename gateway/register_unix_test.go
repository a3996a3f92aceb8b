//go:build unix

package gateway_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// nodeProgram stands in for a node program. It records what it gets in the folder in TEST_DIR, and
// waits for the test to pair it.
const nodeProgram = `#!/bin/sh
cd "$TEST_DIR"
if [ "$1" != --pair ]; then
	echo "$*" >started.new
	mv started.new started
	exit
fi
echo "$*" >arguments
env >environment
ps -eo args >processes
cat >link.new
mv link.new link
until [ -e paired ]; do sleep 0.05; done
`

// serveNodeProgram has the gateway serve a node program, beside the program of the test.
func serveNodeProgram(t *testing.T, text string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(exe), "nodes")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "fairlead-node-"+runtime.GOOS+"-"+runtime.GOARCH), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestRegisterNodeConnectsAMachineInEveryShell(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl:", err)
	}
	p := openPrograms(t)
	serveNodeProgram(t, nodeProgram)
	token := p.token("Editor", protocol.ScopeNodeRegister)
	for _, shell := range []string{"dash", "busybox", "bash"} {
		program, err := exec.LookPath(shell)
		if err != nil {
			continue // every system has one of them as sh
		}
		t.Run(shell, func(t *testing.T) {
			name := "on-" + shell
			var out struct {
				Command string `json:"shell_install_command"`
			}
			if status := p.callREST(token, "register_node", `{"node_name":"`+name+`"}`, &out); status != 200 || out.Command == "" {
				t.Fatalf("got status %d, command %q, want a command", status, out.Command)
			}
			dir := t.TempDir()
			if err := os.Symlink(program, filepath.Join(dir, "sh")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "sh"))
			cmd.Stdin = strings.NewReader(out.Command) // as a person types it
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "TEST_DIR="+dir, "NO_PROXY=*", "FAIRLEAD_HOME="+dir)
			read := func(file string) (text string) {
				p.until(file, func() bool {
					content, err := os.ReadFile(filepath.Join(dir, file))
					text = strings.TrimSpace(string(content))
					return err == nil
				})
				return text
			}
			ended := make(chan string, 1)
			go func() {
				printed, err := cmd.CombinedOutput()
				ended <- string(printed) + exitText(err)
			}()
			link, err := pake.ParseLink(read("link"))
			if err != nil {
				t.Fatal(err)
			}
			secret := read("link")[strings.Index(read("link"), "s="):]
			for _, file := range []string{"arguments", "environment", "processes"} {
				if strings.Contains(read(file), secret) {
					t.Errorf("%s: got the secret of the invitation, want none", file)
				}
			}
			p.pairRegistered(t, name, link)
			if err := os.WriteFile(filepath.Join(dir, "paired"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if printed := <-ended; !strings.Contains(printed, "The node runs") {
				t.Errorf("got %s, want that the node runs", printed)
			}
			if got, want := read("started"), "--workspace "+dir+" --id "+name; got != want {
				t.Errorf("started with %s, want %s", got, want)
			}
		})
	}
}

func exitText(err error) string {
	if err == nil {
		return ""
	}
	return "\n" + err.Error()
}

// pairRegistered pairs a machine whose owner is asked once, and checks that the link works once.
func (p *programs) pairRegistered(t *testing.T, name string, link pake.Link) {
	t.Helper()
	m := newMachine(t, name)
	joining := p.nodeDevice(m, node.Confinement{})
	joining.Link = &link
	out := pair(t, link.Addresses, joining)
	q := p.accessGateway.request(protocol.AskPair)
	if q.Pairing.Device.Name != name {
		t.Errorf("got a question about %s, want one about %s", q.Pairing.Device.Name, name)
	}
	p.accessGateway.allow(q)
	if got := <-out; got.err != nil {
		t.Fatal(got.err)
	}
	second := newMachine(t, "second")
	again := p.nodeDevice(second, node.Confinement{})
	again.Link = &link
	if _, err := client.Pair(t.Context(), link.Addresses, again); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("second use: got %v, want %v", err, protocol.ErrNotFound)
	}
}

func TestRegisterNodeRefusesWhatItCannotDo(t *testing.T) {
	p := openPrograms(t)
	serveNodeProgram(t, nodeProgram)
	token := p.token("Editor", protocol.ScopeNodeRegister)
	limited := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "B", Scopes: []protocol.Scope{protocol.ScopeNodeRegister}, Nodes: []protocol.NodeID{"box"}}).Token
	for _, c := range []struct{ token, args, want string }{
		{p.token("C", protocol.ScopeNetworkRead), `{}`, "forbidden"},
		{limited, `{}`, "forbidden"},
		{token, `{"network_name":"none"}`, "not_found"},
		{token, `{"node_name":"it's"}`, "invalid_args"},
		{token, `{"node_name":"box"}`, "already_exists"},
		{token, `{"node":"x"}`, "invalid_args"},
	} {
		_, answer, _ := p.request("POST", "/api/v1/tools/register_node", c.args, "Authorization", "Bearer "+c.token)
		if !strings.Contains(answer, `"`+c.want+`"`) {
			t.Errorf("%s: got %s, want %s", c.args, answer, c.want)
		}
	}
	ask(p.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.enabled", Value: json.RawMessage("false")})
	p.until("the listener is closed", func() bool { return !p.list().Network.Listening })
	if _, answer, _ := p.request("POST", "/api/v1/tools/register_node", `{}`, "Authorization", "Bearer "+token); !strings.Contains(answer, "let them connect first") {
		t.Errorf("without a listener: got %s, want why", answer)
	}
}
