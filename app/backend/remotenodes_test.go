package backend

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/gateways"
	"fairlead/app/settings"
	"fairlead/gateway"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/node"
)

// holdsHome, if set, makes the test binary a program that is a machine of a remote gateway, with
// this data folder, until its input ends; holdsPin selects the gateway.
const (
	holdsHome = "FAIRLEAD_TEST_HOLDS_HOME"
	holdsPin  = "FAIRLEAD_TEST_HOLDS_PIN"
)

func hold(home string) {
	release, err := node.Hold(home, identity.Peer{Gateway: identity.Gateway{Pin: identity.Pin(os.Getenv(holdsPin))}}, "fairlead node")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer release()
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
}

// holder starts such a program; leave stops it.
func holder(t *testing.T, home string, pin identity.Pin) (pid int, leave func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), holdsHome+"="+home, holdsPin+"="+string(pin))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if said := bufio.NewScanner(out); !said.Scan() || said.Text() != "held" {
		t.Fatalf(`the other program said %q; want "held"`, said.Text())
	}
	return cmd.Process.Pid, func() { in.Close() }
}

// TestASecondNodeWaitsForTheFirst has another process of the data folder
// connected as the gateway's machine when the desktop program tries.
func TestASecondNodeWaitsForTheFirst(t *testing.T) {
	other := reachable(t)
	defer other.Stop()
	home, folder := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := gateways.New(ctx, home, gateway.Version, slog.New(slog.DiscardHandler))
	g.Nodes.RetryInterval = 10 * time.Millisecond
	g.Nodes.Start(func() (node.Options, error) { return node.Options{Workspace: folder, Home: home}, nil })
	defer func() { g.Nodes.Close() }()
	invite, err := feed.Call(t.Context(), other.Feed, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleNode})
	if err != nil {
		t.Fatal(err)
	}
	name, err := g.Pair(ctx, settings.Invitation{Text: invite.Link, AsMachine: true, Name: "cellar"}, agree(t, other))
	if err != nil {
		t.Fatal(err)
	}
	peers, err := g.Peers.List()
	if err != nil || len(peers) != 1 {
		t.Fatalf("got %v, %v; want 1 peer and no error", peers, err)
	}
	pin := peers[0].Pin
	there := func(online bool) {
		t.Helper()
		await(t, other, fmt.Sprint("the machine there, online: ", online), func(v feed.View) bool {
			at := slices.IndexFunc(v.Machines, func(n protocol.NodeInfo) bool { return n.ID == "cellar" })
			return at >= 0 && v.Machines[at].Online == online
		})
	}
	says := func(want string) {
		t.Helper()
		waiting, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		down := ""
		for range g.Nodes.Changed.Changes(waiting) {
			if list, err := g.List(); err != nil || len(list) != 1 {
				t.Fatalf("got %v, %v; want 1 entry and no error", list, err)
			} else if down = list[0].OfflineReason; down == want {
				return
			}
		}
		t.Fatalf("the person is told %q, not %q", down, want)
	}
	there(true)
	says("")

	g.Nodes.Stop(pin)
	there(false)
	pid, leave := holder(t, home, pin)
	g.Nodes.Restart()
	says(fmt.Sprintf("this computer is already connected to %s by fairlead node (process %d)", name, pid))
	if v := other.Feed.View(); slices.ContainsFunc(v.Machines, func(n protocol.NodeInfo) bool { return n.ID == "cellar" && n.Online }) {
		t.Error("it is the machine as well")
	}
	leave()
	there(true)
	says("")
	var works *node.WorksError
	if _, err := node.Hold(home, peers[0], "a third one"); !errors.As(err, &works) || works.By != fmt.Sprintf("the Fairlead desktop app (process %d)", os.Getpid()) {
		t.Errorf("while the desktop program is the machine: %v", err)
	}

	// A waiting worker ends at once, not at its next check.
	g.Nodes.Stop(pin)
	pid, _ = holder(t, home, pin)
	g.Nodes.RetryInterval = time.Hour
	g.Nodes.Restart()
	says(fmt.Sprintf("this computer is already connected to %s by fairlead node (process %d)", name, pid))
	ended := make(chan struct{})
	go func() {
		g.Nodes.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(3 * time.Minute):
		t.Fatal("it waits for the other program though it was closed")
	}
	there(false)
}
