//go:build desktop

package desktoptest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestATerminalOfThisComputer opens a terminal from the page of the machine, types a command, and
// edits a file with vim.
func TestATerminalOfThisComputer(t *testing.T) {
	t.Setenv("ENV", "")
	t.Setenv("SHELL", "/bin/sh")
	d := startApprovalProgram(t)
	d.clickText(mainWindow, "Start now")
	d.useDarkTheme(d.c)
	d.openPageOfMain("Machines")
	d.click(d.waitTextIn(mainWindow, "this computer", content))
	d.click(d.waitTextIn(mainWindow, "Terminal", content))
	d.waitTextIn(mainWindow, "You type", content)
	d.screenshot("opened")

	note := filepath.Join(d.workspace, "note.txt")
	d.typeText("echo 'a note of '$((40+2))' words' | tee " + note)
	d.keys("Return")
	d.waitFor("the output of a command", func() bool { return fileText(note) == "a note of 42 words\n" })
	d.waitTextIn(mainWindow, "42 words", content)
	d.screenshot("echo")

	d.typeText("vim -u NONE -N " + note)
	d.keys("Return")
	d.waitTextIn(mainWindow, "19B", content)
	d.keys("o")
	d.typeText("second line")
	d.waitTextIn(mainWindow, "second line", content)
	d.screenshot("vim")
	if got := len(d.terminals()); got != 1 {
		t.Errorf("terminals that run: got %d, want 1", got)
	}
}

func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// terminals returns the terminals whose program runs.
func (d *approvalProgram) terminals() (running []protocol.Terminal) {
	r, err := client.Call(context.Background(), d.c, protocol.TerminalList, protocol.TerminalListParams{})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, t := range r.Terminals {
		if t.EndedAt == 0 {
			running = append(running, t)
		}
	}
	return running
}
