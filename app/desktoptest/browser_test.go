//go:build desktop

package desktoptest

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestFilesOfAnotherMachineAreDeletedMovedAndRestored deletes, moves and renames files in the
// browser of another machine, and undoes that together with the agent's changes of its last turn.
func TestFilesOfAnotherMachineAreDeletedMovedAndRestored(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	attic := p.startMachineInWorkspace(c, "attic")
	for name, text := range map[string]string{"winter.txt": "snow\n", "summer.txt": "rain and rain\n", "letters/one.txt": "dear\n"} {
		path := filepath.Join(attic, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(name, want string) {
		t.Helper()
		p.waitFor(name+" with "+want, func() bool {
			text, err := os.ReadFile(filepath.Join(attic, name))
			return errors.Is(err, fs.ErrNotExist) && want == "" || err == nil && string(text) == want
		})
	}
	right := func(w window) window { w.x, w.w = w.x+240, w.w-240; return w }
	p.moveWindow(mainWindow, 0, 30, 1100, 720)
	p.click(p.waitTextIn(mainWindow, "Files", sidebar))
	p.click(p.waitTextIn(mainWindow, "this computer", right))
	p.click(p.waitTextIn(mainWindow, "attic", right))

	p.click(p.waitTextIn(mainWindow, "winter", right))
	p.keys("Delete")
	holds("winter.txt", "")
	p.screenshot("deleted")
	p.click(p.waitTextIn(mainWindow, "Undo", toast))
	holds("winter.txt", "snow\n")

	p.drag(p.waitTextIn(mainWindow, "winter", right), p.waitTextIn(mainWindow, "letters", right))
	holds("letters/winter.txt", "snow\n")
	p.screenshot("moved")
	p.click(p.waitTextIn(mainWindow, "Undo", toast))
	holds("winter.txt", "snow\n")
	holds("letters/winter.txt", "")

	p.click(p.waitTextIn(mainWindow, "winter", right))
	p.keys("F2")
	p.typeText("autumn") // the extension is not selected
	p.keys("Return")
	holds("autumn.txt", "snow\n")
	p.screenshot("renamed")
	p.keys("ctrl+z")
	holds("winter.txt", "snow\n")
	holds("autumn.txt", "")

	if _, err := client.Call(context.Background(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "replace rain and rain with sun in summer.txt on attic"}); err != nil {
		t.Fatal(err)
	}
	p.waitFor("the question", func() bool {
		r, err := client.Call(context.Background(), c, protocol.QuestionList, protocol.Empty{})
		if err != nil || len(r.Questions) == 0 {
			return false
		}
		_, err = client.Call(context.Background(), c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: r.Questions[0].ID, Hash: r.Questions[0].Hash, Decision: protocol.DecisionAllow})
		return err == nil
	})
	holds("summer.txt", "sun\n")
	p.waitTextIn(mainWindow, "changed by the agent", right)
	p.screenshot("changed-by-the-agent")
	p.click(p.waitTextIn(mainWindow, "Changes", right))
	p.waitTextIn(mainWindow, "All files", right) // the previous page names the file too
	p.click(p.waitTextIn(mainWindow, "summer.txt", right).Add(image.Pt(0, 2)))
	at := p.waitTextIn(mainWindow, "Revert", right)
	p.screenshot("the-change")
	p.click(at)
	holds("summer.txt", "rain and rain\n")
	p.waitTextIn(mainWindow, "Reverted", right)
	p.screenshot("reverted")
}
