//go:build desktop

package desktoptest

import (
	"bytes"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/format"
)

// output collects what a program prints.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// TestPairingRequestAppearsOnTheInvitationPage lets other machines connect, invites one, and
// answers its request in the window that asks, while the page with the invitation is open.
func TestPairingRequestAppearsOnTheInvitationPage(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	listenLocally(t, c)
	p.useDarkTheme(c)
	p.openAddMachine()
	p.waitText(mainWindow, "Once they can")
	if err := setConfig(c, "network.enabled", true); err != nil {
		t.Fatal(err)
	}
	p.clickText(mainWindow, "Invite a machine") // the page follows without being opened again
	p.waitFor("an invitation", func() bool { return len(deviceList(c).Invites) == 1 })
	p.clickText(mainWindow, "Copy")
	link := ""
	p.waitFor("a link in the clipboard", func() bool {
		link, _ = p.try("xclip", "-selection", "clipboard", "-o")
		return strings.HasPrefix(link, "fairlead://pair?")
	})

	var out output
	pair := exec.Command(filepath.Join(filepath.Dir(programPath(t)), "fairlead"), "pair", link, "--id", "tower", "--workspace", p.workspace)
	pair.Env = append(os.Environ(), "FAIRLEAD_HOME="+t.TempDir(), "FAIRLEAD_SECRETS=file")
	pair.Stdout, pair.Stderr = &out, &out
	if err := pair.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pair.Process.Kill(); pair.Wait() })
	const asks = "^Pair .*tower"
	w := p.waitWindow(asks)
	if front := p.focusedTitle(); front != "Fairlead" {
		t.Errorf(`the keyboard is with %q, want "Fairlead"`, front)
	}
	p.waitText(mainWindow, "wants to be a machine")
	p.waitTray("Pair “tower”?")
	p.screenshot("asked")
	r := pairingRequests(c)
	if len(r) != 1 || !regexp.MustCompile(`\n  `+format.Words(r[0].Pairing.Words)+`\n`).MatchString(out.String()) {
		t.Errorf("the other side shows other words than %v: %s", r, out.String())
	}
	p.click(image.Pt(w.x+w.w-56, w.y+w.h-30)) // Allow, the last button; its text is too bright to be read
	p.waitFor("the pairing", func() bool { d := deviceList(c).Devices; return len(d) == 1 && d[0].Name == "tower" })
	p.waitNoWindow(asks)
	p.waitText(mainWindow, "is paired")
	p.screenshot("paired")
}
