//go:build desktop

package desktoptest

import (
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// chatProgram is a program in use: with chats, and a client that observes the results of the
// person's actions.
type chatProgram struct {
	*program
	c *client.Client
}

func (d *chatProgram) sessions() []protocol.SessionEntry {
	r, err := client.Call(context.Background(), d.c, protocol.SessionsList, protocol.SessionsListParams{})
	if err != nil {
		return nil
	}
	return r.Sessions
}

func (d *chatProgram) session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	list := d.sessions()
	i := slices.IndexFunc(list, func(e protocol.SessionEntry) bool { return e.SessionKey == key })
	if i < 0 {
		return protocol.SessionEntry{}, false
	}
	return list[i], true
}

func (d *chatProgram) messages(key protocol.SessionKey) []protocol.Message {
	r, err := client.Call(context.Background(), d.c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key})
	if err != nil {
		return nil
	}
	return r.Messages
}

// waitMessage waits for a person's message with this text in a chat, and returns it.
func (d *chatProgram) waitMessage(key protocol.SessionKey, text string) protocol.Message {
	d.t.Helper()
	var found protocol.Message
	d.waitFor("the message "+text+" in "+string(key), func() bool {
		for _, m := range d.messages(key) {
			if m.Role == protocol.RoleUser && strings.Contains(m.Content.Text(), text) {
				found = m
			}
		}
		return found.ID != ""
	})
	return found
}

func (d *chatProgram) sendAndWait(key protocol.SessionKey, text string) {
	d.t.Helper()
	if _, err := client.Call(context.Background(), d.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: text}); err != nil {
		d.t.Fatal(err)
	}
	d.waitFor("the answer to "+text, func() bool { return len(d.messages(key)) > 1 })
}

func (d *chatProgram) activateMain() window {
	d.t.Helper()
	w := d.waitWindow(mainWindow)
	d.activate(w)
	return w
}

// chooseFromMenu opens the menu of the current chat and chooses from it.
func (d *chatProgram) chooseFromMenu(choice string) {
	d.t.Helper()
	w := d.activateMain()
	d.click(image.Pt(w.x+w.w-26, w.y+20))
	below := func(w window) window {
		all := w.h
		w = topRightCorner(w)
		w.h = min(all, 440)
		return w
	}
	d.click(d.waitTextIn(mainWindow, choice, below))
}

func hasPicture(m protocol.Message) bool {
	return slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return b.Type == "image" && b.MediaKey != "" })
}

func TestSecondDayOfUse(t *testing.T) {
	p := startProgram(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &chatProgram{p, p.gateway()}
	const two, three = protocol.SessionKey("agent:main:two"), protocol.SessionKey("agent:main:three")
	d.sendAndWait(two, "what can you do")
	d.sendAndWait(three, "list the Go files")

	// An approval arrives while the person types: the keys still go to the field.
	d.activateMain()
	d.typeText("run ls -la")
	d.keys("Return")
	d.waitWindow(question)
	d.typeText("and I type on")
	if front := d.focusedTitle(); front != "Fairlead" {
		t.Errorf(`the keyboard is with %q, want "Fairlead"`, front)
	}
	d.screenshot("typing-on")
	if e := d.waitTray("Fairlead wants to run a command"); !e.disabled {
		t.Error("the status line can be chosen")
	}
	d.chooseTray("Needs you (1)/Run ls -la")
	d.waitFor("the question at the front", func() bool { return strings.HasPrefix(d.focusedTitle(), "Fairlead wants") })
	// an immediate key could belong to the earlier typing, and has no effect
	d.waitFor("the end of the question", func() bool {
		if strings.HasPrefix(d.focusedTitle(), "Fairlead wants") {
			d.keys("Escape")
			time.Sleep(time.Second)
		}
		_, open := d.windowNamed(question)
		return !open
	})
	d.waitTray("Ready")
	d.activateMain()
	d.keys("Return")
	d.waitMessage(protocol.MainSession, "and I type on")

	// The tray's other entries.
	paused := func() bool {
		st, err := client.Call(context.Background(), d.c, protocol.StatusGet, protocol.Empty{})
		return err == nil && st.Paused
	}
	d.chooseTray("Pause agent")
	d.waitFor("the pause", paused)
	d.waitTray("Paused")
	d.chooseTray("Pause agent")
	d.waitFor("the end of the pause", func() bool { return !paused() })
	d.activateMain()
	d.keys("ctrl+w")
	d.waitNoWindow(mainWindow)
	if hidden, _ := d.try("xdotool", "search", "--name", "SystrayMonitor"); strings.TrimSpace(hidden) != "" {
		t.Errorf("windows of the toolkit for the tray: got %q, want none, because one takes 15 MB", hidden)
	}
	d.chooseTray("Recent chats/what can you do")
	d.waitWindow(mainWindow)
	d.activateMain()
	d.typeText("read main.go")
	d.keys("Return")
	d.waitMessage(two, "read main.go")
	before := len(d.sessions())
	d.keys("ctrl+w")
	d.waitNoWindow(mainWindow)
	d.chooseTray("New chat")
	d.waitWindow(mainWindow)
	d.waitTextIn(mainWindow, "What would", content) // the new chat has the keyboard now, and not the one before
	d.activateMain()
	d.keys("ctrl+n") // the unused chat is opened again, as the count of chats below shows
	d.waitTextIn(mainWindow, "What would", content)
	d.typeText("read README.md")
	d.keys("Return")
	var fresh protocol.SessionEntry
	d.waitFor("a new chat", func() bool {
		list := d.sessions()
		i := slices.IndexFunc(list, func(e protocol.SessionEntry) bool { return e.Title == "read README.md" })
		if i >= 0 {
			fresh = list[i]
		}
		return i >= 0 && len(list) == before+1
	})

	// Rename, export, and delete with undo the current chat.
	d.chooseFromMenu("Rename")
	d.keys("ctrl+a")
	d.typeText("Paper boats")
	d.keys("Return")
	d.waitFor("the new name", func() bool { e, _ := d.session(fresh.SessionKey); return e.Title == "Paper boats" })
	d.chooseFromMenu("Export")
	d.clickText(mainWindow, "Markdown")
	d.waitWindow("^Export chat")
	d.screenshot("export")
	d.keys("Return")
	file := filepath.Join(filepath.Dir(p.workspace), "Paper boats.md")
	d.waitFor("the exported file", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "read README.md")
	})
	d.chooseFromMenu("Delete")
	d.waitFor("the end of the chat", func() bool { e, ok := d.session(fresh.SessionKey); return !ok || e.DeletedAt != 0 })
	d.click(d.waitTextIn(mainWindow, "Undo", toast))
	d.waitFor("the chat again", func() bool { e, ok := d.session(fresh.SessionKey); return ok && e.DeletedAt == 0 })
	d.screenshot("undone")

	// Pictures, from the clipboard and from a file manager.
	pic := filepath.Join(t.TempDir(), "boat.png")
	if err := writePicture(pic); err != nil {
		t.Fatal(err)
	}
	d.run("sh", "-c", `xclip -selection clipboard -t image/png -i "$1" >/dev/null 2>&1`, "sh", pic)
	w := d.activateMain()
	d.keys("ctrl+v")
	d.waitTextIn(mainWindow, "pasted.png", windowBottom)
	d.typeText("a pasted one")
	d.keys("Return")
	if m := d.waitMessage(fresh.SessionKey, "a pasted one"); !hasPicture(m) {
		t.Errorf("the message has no picture: %+v", m.Content)
	}
	d.drop(pic, w, w.x+w.w/2, w.y+w.h/2)
	d.waitTextIn(mainWindow, "boat.png", windowBottom)
	d.screenshot("dropped")
	d.typeText("a dropped one")
	d.keys("Return")
	if m := d.waitMessage(fresh.SessionKey, "a dropped one"); !hasPicture(m) {
		t.Errorf("the message has no picture: %+v", m.Content)
	}

	// A chat in a window of its own.
	d.rightClick(d.waitTextIn(mainWindow, "Go files", sidebar))
	d.clickText(mainWindow, "new window")
	const own = "Go files – Fairlead$"
	d.activate(d.waitWindow(own))
	d.typeText("list md files")
	d.keys("Return")
	d.waitMessage(three, "list md files")
	d.screenshot("torn-off")
	d.keys("ctrl+w")
	d.waitNoWindow(own)

	// Light colours.
	d.chooseTray("Settings")
	d.click(d.waitTextIn(mainWindow, "General", settingsList))
	d.click(d.waitTextIn(mainWindow, "Light", settingsPage))
	d.waitFor("a light main window", func() bool { return d.brightness(mainWindow) > 0.7 })

	// A narrow window: the sidebar is a drawer, and its search works by keyboard.
	w = d.activateMain()
	d.run("xdotool", "windowsize", "--sync", w.id, "480", "700")
	d.keys("ctrl+g")
	d.typeText("Go files")
	// the search waits for a pause in typing
	d.waitPlaces(mainWindow, sidebar, "RESULTS", "the Go files")
	d.screenshot("drawer")
	d.keys("Return")
	d.typeText("list txt files")
	d.keys("Return")
	d.waitMessage(three, "list txt files")
	d.screenshot("narrow")
}

// writePicture writes a small picture.
func writePicture(path string) error {
	pic := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			pic.Set(x, y, color.RGBA{uint8(4 * x), uint8(5 * y), 160, 255})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, pic); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
