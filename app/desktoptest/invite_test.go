//go:build desktop

package desktoptest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestAnInvitationIsReadFromTheScreen reads the QR code of an invitation as a camera would, in dark
// and light windows, and compares it with the link that the button copies.
func TestAnInvitationIsReadFromTheScreen(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	if err := setConfig(c, "network.enabled", true); err != nil {
		t.Fatal(err)
	}
	p.waitFor("a listener for other machines", func() bool {
		r, err := client.Call(context.Background(), c, protocol.DeviceList, protocol.Empty{})
		return err == nil && r.Network.Listening
	})
	p.useDarkTheme(c)
	p.openAddMachine()
	p.clickText(mainWindow, "Invite a machine")
	p.clickText(mainWindow, "Copy")
	link := ""
	p.waitFor("a link in the clipboard", func() bool {
		link, _ = p.try("xclip", "-selection", "clipboard", "-o")
		return strings.HasPrefix(link, "fairlead://pair?")
	})
	for _, theme := range []string{"dark", "light"} {
		if err := setConfig(c, "ui.theme", theme); err != nil {
			t.Fatal(err)
		}
		p.waitFor(fmt.Sprint("a ", theme, " window"), func() bool { return p.brightness(mainWindow) > 0.7 == (theme == "light") })
		// the colours change over several frames
		p.waitFor(fmt.Sprint("the button's link in a ", theme, " window"), func() bool {
			read, err := p.try("zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", p.screenshot("invitation-"+theme))
			if err != nil || strings.TrimSpace(read) != link {
				t.Logf("the code says %q (%v), the button %q", read, err, link)
				return false
			}
			return true
		})
	}
}
