//go:build desktop

package desktoptest

import (
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestPaletteFindsAndDoes opens a setting, a machine, a page, a file and a chat with Ctrl+K, and
// returns to what was typed with Escape.
func TestPaletteFindsAndDoes(t *testing.T) {
	p := start(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &day{p, p.gateway()}
	p.machine(d.c, "server")
	p.darken(d.c)
	const boats = protocol.SessionKey("agent:main:boats")
	name := "Paper boats"
	d.seed(boats, "what can you do")
	if _, err := client.Call(t.Context(), d.c, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: boats, Label: &name}); err != nil {
		t.Fatal(err)
	}
	d.main()
	choose := func(query string) {
		t.Helper()
		d.keys("ctrl+k")
		d.typeText(query)
		d.keys("Return")
	}

	choose("text size")
	d.waitTextIn(mainWindow, "Text size", settingsPage)
	choose("server")
	d.waitTextIn(mainWindow, "All machines", top)
	choose("pair a machine")
	d.waitTextIn(mainWindow, "Add a machine", top)
	d.shot("pair")

	// An empty palette lists what there is; the same key closes it.
	d.keys("ctrl+k")
	d.waitText(mainWindow, "Start a new chat")
	d.shot("palette")
	d.keys("ctrl+k")
	d.waitTextIn(mainWindow, "Add a machine", top)

	choose("main.go") // a file of the workspace
	d.waitTextIn(mainWindow, "func main", right)
	d.shot("file")

	choose("paper boats")
	d.waitTextIn(mainWindow, "Paper boats", top)
	d.typeText("read ")
	d.keys("ctrl+k")
	d.waitText(mainWindow, "Start a new chat")
	d.keys("Escape")
	d.typeText("README.md")
	d.keys("Return")
	d.arrives(boats, "read README.md")

	// With the largest text, a page of the settings stands in place of their list.
	if err := setConfig(d.c, "ui.textSize", 2); err != nil {
		t.Fatal(err)
	}
	choose("models")
	d.waitTextIn(mainWindow, "Provider", right)
	choose("notifications")
	d.waitTextIn(mainWindow, "Notify me", right)
	d.shot("largest")
}
