package pairing_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/sandbox"
)

// roamRole is the variable that makes the test binary one end of
// TestAPairedMachineSurvivesItsNetwork.
const roamRole = "FAIRLEAD_ROAM_ROLE"

func TestMain(m *testing.M) {
	sandbox.Main()
	switch os.Getenv(roamRole) {
	case "gateway":
		roamGateway()
	case "node":
		pairAsNode()
	default:
		os.Exit(m.Run())
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	return v
}

// roamGateway is a gateway that approves the first device, and calls a tool for each line that it
// reads.
func roamGateway() {
	ctx := context.Background()
	g := must(gateway.Open(ctx, gateway.Options{Listen: "none", Logger: slog.New(slog.DiscardHandler)}))
	go g.Run(ctx)
	up := make(chan struct{})
	c := client.New(client.Options{
		URL: "ws://memory/ws", Dial: g.Dial, Connect: func() protocol.ConnectParams { return gateway.ClientParams("window") },
		OnUp: func(context.Context, protocol.ConnectResult) { close(up) },
	})
	go c.Run(ctx)
	<-up
	for path, value := range map[string]string{"network.listen": `":4788"`, "network.enabled": "true"} {
		must(client.Call(ctx, c, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)}))
	}
	list := func() protocol.DeviceListResult {
		return must(client.Call(ctx, c, protocol.DeviceList, protocol.Empty{}))
	}
	for !list().Network.Listening {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println(must(client.Call(ctx, c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{})).Code)
	var open []protocol.Question
	for len(open) == 0 {
		time.Sleep(10 * time.Millisecond)
		open = must(client.Call(ctx, c, protocol.QuestionList, protocol.Empty{})).Questions
	}
	must(client.Call(ctx, c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: open[0].ID, Hash: open[0].Hash, Decision: protocol.DecisionAllow}))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		began := time.Now()
		for {
			r, err := client.Call(ctx, c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Bash", Args: json.RawMessage(lines.Text())})
			// The node is not connected: the wire was cut before the call was sent.
			if err != nil && time.Since(began) < time.Minute {
				time.Sleep(20 * time.Millisecond)
				continue
			}
			fmt.Printf("%.1f %v %v\n", time.Since(began).Seconds(), strings.ReplaceAll(string(r.Result), "\n", " "), err)
			break
		}
	}
}

// pairAsNode finds a gateway by code, pairs, and runs as its node.
func pairAsNode() {
	ctx := context.Background()
	home := os.Getenv("FAIRLEAD_HOME")
	secrets := keychain.Open(home)
	id, peers := must(identity.OpenKey(secrets)), identity.OpenPeers(home, secrets)
	opts := node.Options{ID: "laptop", Workspace: home, Confine: node.Confinement{Mode: sandbox.Full, Network: sandbox.NetAllowed}, URL: "ws://x/ws"}
	n := must(node.New(opts))
	j := client.Join{
		Key: id, Peers: peers, Applicant: n.Applicant(), Invitation: os.Getenv("CODE"),
		Find: func(ctx context.Context) (found []string) {
			for len(found) == 0 { // the network may have just started
				found = discovery.Find(ctx, "")
			}
			return found
		},
	}
	n.Close()
	peer := must(j.Run(ctx))
	opts.Through = func(o client.Options) client.Options { return client.Through(o, peers, peer.ID(), id, discovery.Find) }
	n = must(node.New(opts))
	fmt.Println("paired", peer.Addresses)
	fmt.Println("ended", n.Run(ctx))
}

// TestAPairedMachineSurvivesItsNetwork: gateway and node are in separate network namespaces. The
// node finds the gateway by a spoken code and mDNS, keeps its result while the wire is cut, and
// finds the gateway again when either gets another address.
func TestAPairedMachineSurvivesItsNetwork(t *testing.T) {
	if os.Geteuid() != 0 || testing.Short() {
		t.Skip("making networks needs root, and some time")
	}
	ip := func(args ...string) error {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	gw, nd := fmt.Sprintf("flg%d", os.Getpid()), fmt.Sprintf("fln%d", os.Getpid())
	t.Cleanup(func() { ip("netns", "del", gw); ip("netns", "del", nd) })
	for _, line := range []string{
		"netns add " + gw, "netns add " + nd, "link add eth0 netns " + gw + " type veth peer name eth0 netns " + nd,
		"-n " + gw + " link set lo up", "-n " + nd + " link set lo up", "-n " + gw + " addr add 10.77.0.1/24 dev eth0", "-n " + nd + " addr add 10.77.0.2/24 dev eth0",
		"-n " + gw + " link set eth0 up", "-n " + nd + " link set eth0 up",
	} {
		if err := ip(strings.Fields(line)...); err != nil {
			t.Skip("no network namespaces here:", err)
		}
	}
	run := func(ns, role string, env ...string) (io.Writer, *bufio.Scanner) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("ip", "netns", "exec", ns, exe)
		cmd.Env = append(append(os.Environ(), roamRole+"="+role, "FAIRLEAD_SECRETS=file", "FAIRLEAD_HOME="+t.TempDir(), "HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0"), env...)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return in, bufio.NewScanner(out)
	}
	ask, says := run(gw, "gateway")
	if !says.Scan() {
		t.Fatal("the gateway did not start")
	}
	_, node := run(nd, "node", "CODE="+says.Text())
	if !node.Scan() || !strings.HasPrefix(node.Text(), "paired") {
		t.Fatalf("the node: got %q, want paired", node.Text())
	}
	call := func(what, command string, meanwhile func()) {
		t.Helper()
		fmt.Fprintf(ask, "{\"command\":%q}\n", command)
		if meanwhile != nil {
			meanwhile()
		}
		if !says.Scan() || !strings.Contains(says.Text(), "done-"+what) {
			t.Errorf("%s: got %s, want it done", what, says.Text())
		}
		t.Logf("%s: %s", what, says.Text())
	}
	wire := func(state string) {
		if err := ip("-n", nd, "link", "set", "eth0", state); err != nil {
			t.Fatal(err)
		}
	}
	call("plain", "echo done-plain", nil)
	// The call runs while the wire is cut; TCP delivers its result later.
	call("cut", "sleep 1; echo done-cut", func() {
		time.Sleep(300 * time.Millisecond)
		wire("down")
		time.Sleep(1200 * time.Millisecond)
		wire("up")
	})
	// Both move to another network: the connection is dead, and the gateway has another address.
	for _, line := range []string{
		"-n " + gw + " addr del 10.77.0.1/24 dev eth0", "-n " + gw + " addr add 10.78.0.9/24 dev eth0",
		"-n " + nd + " addr del 10.77.0.2/24 dev eth0", "-n " + nd + " addr add 10.78.0.3/24 dev eth0",
	} {
		if err := ip(strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	call("roam", "echo done-roam", nil)
}
