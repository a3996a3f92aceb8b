//go:build desktop

package desktoptest

import (
	"context"
	"image"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestSignInButtonConnectsRemoteServer uses another gateway as a remote MCP server: the button
// opens the browser, which the test is, and the owner of the other gateway lets Fairlead in.
func TestSignInButtonConnectsRemoteServer(t *testing.T) {
	// The browser writes down what it shall open.
	tools := t.TempDir()
	opened := filepath.Join(tools, "opened")
	if err := os.WriteFile(filepath.Join(tools, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" >'"+opened+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))

	remote := startRemote(t)
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	p.useDarkTheme(c)
	if err := setConfig(c, "mcp.servers.home", map[string]any{"url": "http://" + remote.addr + "/mcp"}); err != nil {
		t.Fatal(err)
	}
	state := func() protocol.ServerStatus {
		r, err := client.Call(context.Background(), c, protocol.ServersList, protocol.Empty{})
		if err != nil || len(r.Servers) == 0 {
			return protocol.ServerStatus{}
		}
		return r.Servers[0]
	}
	p.waitFor("the need to sign in", func() bool { return state().State == protocol.ServerSignIn })
	p.openPage("Tools")
	p.click(p.waitTextIn(mainWindow, "home", settingsPage))
	p.screenshot("sign-in")
	above := p.waitTextIn(mainWindow, "come back", settingsPage)
	p.click(image.Pt(p.waitWindow(mainWindow).x+1041, above.Y+47)) // Sign in…, a phrase that stands above, too
	var address string
	p.waitFor("the browser", func() bool {
		raw, err := os.ReadFile(opened)
		address = string(raw)
		return err == nil && address != ""
	})

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &http.Client{Jar: jar}
	page, waits := visitPage(t, b, address)
	code := regexp.MustCompile(`class="code">(\w+)<`).FindStringSubmatch(page)
	if code == nil {
		t.Fatalf("the page shows no code: %s", page)
	}
	remote.run("approve", code[1])
	p.waitFor("the end of the sign-in", func() bool {
		page, _ := visitPage(t, b, waits)
		return strings.Contains(page, "You are signed in")
	})
	p.waitFor("the server", func() bool { return state().State == protocol.ServerReady })
	p.waitTextIn(mainWindow, "Find files", content)
	p.screenshot("ready")
}

// visitPage opens an address as a browser does. It returns the page at the end of its redirects,
// and that page's address.
func visitPage(t *testing.T, b *http.Client, address string) (page, at string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), resp.Request.URL.String()
}

// remoteGateway is a gateway without windows.
type remoteGateway struct {
	t          *testing.T
	addr, home string
	end        func() // kills it and waits
}

func startRemote(t *testing.T) *remoteGateway {
	t.Helper()
	g := &remoteGateway{t: t, addr: porttest.Free(t), home: t.TempDir()}
	cmd := g.command("gateway", "--listen", g.addr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.end = func() { cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(g.end)
	return g
}

func (g *remoteGateway) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(filepath.Dir(programPath(g.t)), "fairlead"), args...)
	cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+g.home, "FAIRLEAD_SECRETS=file", "FAIRLEAD_URL=ws://"+g.addr+"/ws")
	return cmd
}

func (g *remoteGateway) run(args ...string) {
	g.t.Helper()
	if out, err := g.command(args...).CombinedOutput(); err != nil {
		g.t.Fatalf("fairlead %s: %v: %s", strings.Join(args, " "), err, out)
	}
}
