//go:build desktop

package desktoptest

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestPaletteFindsAndRunsActions opens a setting, a machine, a page, a file and a chat with Ctrl+K,
// and returns to what was typed with Escape.
func TestPaletteFindsAndRunsActions(t *testing.T) {
	p := startProgram(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &chatProgram{p, p.gateway()}
	p.startMachineInWorkspace(d.c, "server")
	p.useDarkTheme(d.c)
	const boats = protocol.SessionKey("agent:main:boats")
	name := "Paper boats"
	d.sendAndWait(boats, "what can you do")
	if _, err := client.Call(t.Context(), d.c, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: boats, Label: &name}); err != nil {
		t.Fatal(err)
	}
	d.activateMain()
	choose := func(query string) {
		t.Helper()
		d.keys("ctrl+k")
		d.typeText(query)
		d.keys("Return")
	}

	choose("text size")
	d.waitTextIn(mainWindow, "Text size", settingsPage)
	choose("server")
	d.waitTextIn(mainWindow, "All machines", contentTop)
	choose("pair a machine")
	d.waitTextIn(mainWindow, "Add a machine", contentTop)
	d.screenshot("pair")

	// An empty palette lists what there is; the same key closes it.
	d.keys("ctrl+k")
	d.waitText(mainWindow, "Start a new chat")
	d.screenshot("palette")
	d.keys("ctrl+k")
	d.waitTextIn(mainWindow, "Add a machine", contentTop)

	choose("main.go") // a file of the workspace
	d.waitTextIn(mainWindow, "func main", content)
	d.screenshot("file")

	deep := filepath.Join(p.workspace, "letters", "2025", "harbour")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "lantern.txt"), []byte("A lantern in the fog.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	choose("lantern") // below the workspace
	d.waitTextIn(mainWindow, "lantern in the fog", content)

	choose("paper boats")
	d.waitTextIn(mainWindow, "Paper boats", contentTop)
	d.typeText("read ")
	d.keys("ctrl+k")
	d.waitText(mainWindow, "Start a new chat")
	d.keys("Escape")
	d.typeText("README.md")
	d.keys("Return")
	d.waitMessage(boats, "read README.md")

	// With the largest text, a page of the settings stands in place of their list.
	if err := setConfig(d.c, "ui.textSize", 2); err != nil {
		t.Fatal(err)
	}
	choose("models")
	d.waitTextIn(mainWindow, "Provider", content)
	choose("notifications")
	d.waitTextIn(mainWindow, "Notify me", content)
	d.screenshot("largest")
}
