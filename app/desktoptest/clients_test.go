//go:build desktop

package desktoptest

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestPairedWindowsAreListedAndRevoked pairs a machine and two clients with the program, and
// revokes one of the clients in the window.
func TestPairedWindowsAreListedAndRevoked(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	listenLocally(t, c)
	if err := setConfig(c, "network.enabled", true); err != nil {
		t.Fatal(err)
	}
	named := func(name string) (found protocol.Device) {
		for _, d := range deviceList(c).Devices {
			if d.Name == name {
				found = d
			}
		}
		return found
	}
	p.waitFor("its listener", func() bool { return deviceList(c).Network.Listening })

	fairlead := filepath.Join(filepath.Dir(programPath(t)), "fairlead")
	// pair pairs a device and runs a command as it, which ends with the test.
	pair := func(invited protocol.DeviceInviteParams, flags []string, run ...string) {
		t.Helper()
		invite, err := client.Call(context.Background(), c, protocol.DeviceInviteTo, invited)
		if err != nil {
			t.Fatal(err)
		}
		env := append(os.Environ(), "FAIRLEAD_HOME="+t.TempDir(), "FAIRLEAD_SECRETS=file")
		done := make(chan error, 1)
		var out []byte
		go func() {
			cmd := exec.Command(fairlead, append([]string{"pair", invite.Link, "--as", invited.Role, "--json"}, flags...)...)
			cmd.Env = env
			var err error
			out, err = cmd.Output()
			done <- err
		}()
		p.waitFor("the question of "+invited.Name, func() bool { return len(pairingRequests(c)) == 1 })
		answer := allowAnswer(pairingRequests(c)[0])
		answer.Name = invited.Name
		if _, err := client.Call(context.Background(), c, protocol.QuestionAnswer, answer); err != nil {
			t.Fatal(err)
		}
		var peer struct{ Name string }
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &peer); err != nil {
			t.Fatal(err)
		}
		if len(run) == 0 {
			return
		}
		if invited.Role == protocol.RoleClient {
			run = append([]string{"--url", peer.Name}, run...)
		}
		cmd := exec.Command(fairlead, run...)
		cmd.Env = env
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
		p.waitFor("the contact of "+invited.Name, func() bool { return named(invited.Name).Online })
	}
	node := []string{"--id", "server", "--workspace", t.TempDir()}
	pair(protocol.DeviceInviteParams{Role: protocol.RoleNode, Name: "server"}, node, append([]string{"node"}, node...)...)
	pair(protocol.DeviceInviteParams{
		Role: protocol.RoleClient, Name: "A telephone with a name that is rather long", PairedFor: 30,
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeApprove},
	}, nil)
	pair(protocol.DeviceInviteParams{Role: protocol.RoleClient, Name: "tablet"}, nil, "chat")

	p.activate(p.waitWindow(mainWindow))
	p.openPage("Machines")
	p.waitText(mainWindow, "tablet")
	colours := func(name string) {
		t.Helper()
		for _, theme := range []string{"dark", "light"} {
			if err := setConfig(c, "ui.theme", theme); err != nil {
				t.Fatal(err)
			}
			p.waitFor("a "+theme+" window", func() bool { return p.brightness(mainWindow) > 0.7 == (theme == "light") })
			p.screenshot(name + "-" + theme)
		}
	}
	size := func(width int) {
		p.run("xdotool", "windowsize", "--sync", p.waitWindow(mainWindow).id, strconv.Itoa(width), "760")
		p.waitFor(fmt.Sprint("a window of ", width), func() bool { return p.waitWindow(mainWindow).w == width })
	}
	for _, width := range []int{520, 1100} {
		size(width)
		colours(fmt.Sprint("windows-", width))
	}
	p.clickText(mainWindow, "tablet")
	p.waitText(mainWindow, "Status")
	p.screenshot("window")
	p.clickText(mainWindow, "Revoke")
	p.waitText(mainWindow, "Revoke access for")
	p.click(p.waitText(mainWindow, "Cancel").Sub(image.Pt(70, 0))) // the button before it, not the word in the question
	p.waitFor("the end of the pairing", func() bool { return named("tablet").RevokedAt > 0 })
	p.waitText(mainWindow, "Remove")
	p.screenshot("revoked")
}
