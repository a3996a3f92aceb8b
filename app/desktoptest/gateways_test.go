//go:build desktop

package desktoptest

import (
	"context"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestEachGatewayHasItsOwnWindow pairs with a second gateway in the settings, opens its window
// beside the first, stops that gateway, and closes both windows with the program.
func TestEachGatewayHasItsOwnWindow(t *testing.T) {
	p := startProgram(newDesktop(t))
	p.clickText(mainWindow, "Start now")

	remote := startRemote(t)
	var token string
	p.waitFor("the second gateway", func() bool {
		out, err := remote.command("token").Output()
		token = strings.TrimSpace(string(out))
		return err == nil && remote.command("status").Run() == nil
	})
	c := dialGateway(p.desktop, remote.addr, token)
	listenLocally(t, c)
	if err := setConfig(c, "network.enabled", true); err != nil {
		t.Fatal(err)
	}
	p.waitFor("its listener", func() bool { return deviceList(c).Network.Listening })
	invite, err := client.Call(context.Background(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	if err != nil {
		t.Fatal(err)
	}

	p.activate(p.waitWindow(mainWindow))
	p.keys("ctrl+comma")
	p.click(p.waitTextIn(mainWindow, "Gateways", settingsList))
	p.keys("Tab", "End")
	p.click(p.waitTextIn(mainWindow, "otter", settingsPage)) // the placeholder of the field
	p.typeText(invite.Link)
	p.keys("Return")
	p.waitFor("the question there", func() bool { return len(pairingRequests(c)) == 1 })
	p.screenshot("asked-there")
	if _, err := client.Call(context.Background(), c, protocol.QuestionAnswer, allowAnswer(pairingRequests(c)[0])); err != nil {
		t.Fatal(err)
	}
	// the button beside the other one, not the word in the text below
	line := p.waitTextIn(mainWindow, "Unpair", settingsPage).Y
	open := p.waitTextIn(mainWindow, "Open", func(w window) window { w = settingsPage(w); w.y, w.h = line-20, 40; return w })
	p.screenshot("paired")
	p.click(open)
	const far = " – Fairlead$"
	isFar := func() bool { _, ok := p.windowNamed("^[^S].*" + far); return ok }
	p.waitFor("a window on the second gateway", isFar)
	p.waitFor("its connection", func() bool { d := deviceList(c).Devices; return len(d) == 1 && d[0].Online })
	p.waitTray("Gateways")
	p.screenshot("two-windows")

	remote.end()
	p.waitText("^[^S].*"+far, "Not connected")
	p.screenshot("offline")
	p.activate(p.waitWindow(mainWindow))
	p.keys("ctrl+q")
	p.waitFor("the end of both windows", func() bool { return !isFar() })
}

// allowAnswer returns the answer that allows what a question asks for.
func allowAnswer(q protocol.Question) protocol.QuestionAnswerParams {
	return protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow}
}
