//go:build desktop && gallery

package desktoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// gallery takes pictures of every page for manual review: dark and light, in the default size and
// the smallest.
type gallery struct {
	*day
	set   string // prefix of the pictures' names
	theme string
}

type shape struct {
	name string
	w, h int
}

var shapes = []shape{{"wide", 1120, 760}, {"narrow", 480, 560}}

// colours changes the theme of all windows.
func (g *gallery) colours(theme string) {
	g.t.Helper()
	if g.theme == theme {
		return
	}
	if err := setConfig(g.c, "ui.theme", theme); err != nil {
		g.t.Fatal(err)
	}
	g.theme = theme
	g.until(theme+" windows", func() bool { return g.light(mainWindow) == (theme == "light") })
}

// light reports whether a window's background is light: its pixel beside the left edge.
func (g *gallery) light(pattern string) bool {
	w, ok := g.windowNamed(pattern)
	if !ok {
		return false
	}
	pic, err := g.eye.look(window{w.id, w.x + 2, w.y + w.h/2, 1, 1})
	return err == nil && pic.Pix[0] > 128
}

// size resizes a window to its default or minimum size.
func (g *gallery) size(pattern string, s shape) window {
	g.t.Helper()
	w := g.waitWindow(pattern)
	if w.w == s.w && w.h == s.h {
		return w
	}
	g.run("xdotool", "windowsize", w.id, strconv.Itoa(s.w), strconv.Itoa(s.h))
	still := 0
	g.until("the size "+s.name, func() bool {
		now := g.waitWindow(pattern)
		if now == w && now.w >= s.w && now.h >= s.h {
			still++
		} else {
			w, still = now, 0
		}
		return still == 3
	})
	if w.w != s.w || w.h != s.h {
		g.t.Logf("%s has %dx%d instead of %dx%d", pattern, w.w, w.h, s.w, s.h)
	}
	return w
}

// longestLook is the time after which a picture is taken of a window that keeps changing, such as a
// field with a cursor.
const longestLook = 4 * time.Second

// picture saves a picture of a window once it has not changed for half a second.
func (g *gallery) picture(pattern, name string) {
	g.t.Helper()
	w := g.waitWindow(pattern)
	var last []byte
	since := time.Now()
	began := since
	g.until("a still picture of "+name, func() bool {
		pic, err := g.eye.look(w)
		if err != nil {
			return false
		}
		if !bytes.Equal(pic.Pix, last) {
			last, since = pic.Pix, time.Now()
		}
		if time.Since(since) < 500*time.Millisecond && time.Since(began) < longestLook {
			return false
		}
		if err := keep(pic, filepath.Join(g.shots, g.set+"-"+name+".png")); err != nil {
			g.t.Fatal(err)
		}
		return true
	})
}

// take takes the pictures of a window.
func (g *gallery) take(pattern, name string, sizes ...shape) {
	g.t.Helper()
	for _, s := range sizes {
		g.size(pattern, s)
		for _, theme := range []string{"dark", "light"} {
			g.colours(theme)
			g.away(pattern)
			g.picture(pattern, name+"-"+s.name+"-"+theme)
		}
	}
	g.colours("dark")
	g.size(pattern, sizes[0])
}

// away moves the mouse out of the window, in steps, so that the window notices.
func (g *gallery) away(pattern string) {
	w := g.waitWindow(pattern)
	g.run("xdotool", "mousemove", strconv.Itoa(w.x+w.w/2), strconv.Itoa(w.y+w.h-3), "sleep", "0.05", "mousemove", "1275", "895")
}

// page opens a page of the main window.
func (g *gallery) page(title string) {
	g.t.Helper()
	g.activate(g.size(mainWindow, shapes[0]))
	g.openPage(title)
}

func (g *gallery) main(name string) { g.t.Helper(); g.take(mainWindow, name, shapes...) }

// pages takes pictures of every page in the sidebar.
func (g *gallery) pages() {
	g.t.Helper()
	g.main("chat")
	for _, title := range []string{"Needs you", "Approvals and rules", "Activity", "Files", "Transfers", "Schedule", "Skills", "Channels", "Tools", "Connected apps", "Machines"} {
		g.page(title)
		g.main(strings.ToLower(strings.ReplaceAll(title, " ", "-")))
	}
	g.keys("ctrl+f")
	g.main("search")
	w := g.size(mainWindow, shapes[1])
	g.click(image.Pt(w.x+24, w.y+24))
	g.take(mainWindow, "drawer", shapes[1])
	g.click(image.Pt(w.x+w.w-30, w.y+w.h/2))
	g.size(mainWindow, shapes[0])
}

func (g *gallery) settings() {
	g.t.Helper()
	g.activate(g.waitWindow(mainWindow))
	g.keys("ctrl+comma")
	g.take(mainWindow, "settings-list", shapes[1])
	for _, tab := range []string{"General", "Models", "Notifications", "This computer", "Gateways", "Help", "About", "All settings"} {
		g.openPage(tab)
		g.take(mainWindow, "settings-"+strings.ToLower(strings.ReplaceAll(tab, " ", "-")), shapes...)
	}
}

// ask calls a method of the gateway.
func ask[P, R any](g *gallery, m protocol.Method[P, R], p P) R {
	g.t.Helper()
	r, err := client.Call(context.Background(), g.c, m, p)
	if err != nil {
		g.t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

// fill adds the data that a person has after some weeks.
func (g *gallery) fill() {
	g.t.Helper()
	for name, size := range map[string]int64{"photos.tar": 700 << 20, "A long name of a file that someone gave a report about the second quarter of the year (final, corrected).pdf": 90 << 10, "notes.txt": 400} {
		path := filepath.Join(g.workspace, name)
		if err := os.WriteFile(path, []byte("Some notes.\n"), 0o644); err != nil {
			g.t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			g.t.Fatal(err)
		}
	}
	os.MkdirAll(filepath.Join(g.workspace, "src", "parser"), 0o755)
	os.WriteFile(filepath.Join(g.workspace, "src", "parser", "lex.go"), []byte("package parser\n\n// Lex reads tokens.\nfunc Lex(s string) []string { return nil }\n"), 0o644)

	g.machine(g.c, "server")
	here := g.here()
	name := "Main chat"
	ask(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: protocol.MainSession, Label: &name})
	for _, text := range []string{"list the Go files", "what can you do", "read main.go and tell me whether this is all that there is to it, because I had thought that there was more", "search for package"} {
		g.seed(protocol.SessionKey("agent:main:c"+strconv.Itoa(len(text))), text)
	}
	for _, text := range []string{"what can you do", "read README.md", "list the files"} {
		ask(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text})
		g.until("the end of "+text, func() bool {
			m := g.messages(protocol.MainSession)
			return len(m) > 0 && m[len(m)-1].Role == protocol.RoleAssistant
		})
	}
	for _, policy := range []string{`{"tool":"Bash","argv":["git","status","**"],"verdict":"allow"}`, `{"tool":"Write","path":"/etc/**","verdict":"deny"}`} {
		ask(g, protocol.RulePut, protocol.RulePutParams{Policy: json.RawMessage(policy)})
	}
	every, task := &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000}, &protocol.CronMode{Mode: protocol.CronTask, Message: "read README.md"}
	ask(g, protocol.CronAdd, protocol.CronAddParams{Name: "Look at the backups", Schedule: every, Spec: task})
	ask(g, protocol.CronAdd, protocol.CronAddParams{
		Name:     "Every working day, before the others come, a report of what was done the day before",
		Schedule: &protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 8 * * 1-5"}, Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "read notes.txt"},
	})
	send := func(name, to string) protocol.Transfer {
		return ask(g, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{string(here) + ":" + filepath.Join(g.workspace, name)}, Destination: to, Into: true})
	}
	for _, name := range []string{"README.md", "src", "no-such-file"} {
		t := send(name, "server:")
		g.until("the end of a transfer", func() bool {
			t = ask(g, protocol.TransferGet, protocol.TransferParams{ID: t.ID})
			return t.EndedAt != 0
		})
	}
	big := send("photos.tar", "server:")
	g.until("a transfer on its way", func() bool {
		t := ask(g, protocol.TransferGet, protocol.TransferParams{ID: big.ID})
		return t.EndedAt != 0 || t.State == protocol.TransferRunning
	})
	// unless it has already finished
	client.Call(context.Background(), g.c, protocol.TransferPause, protocol.TransferParams{ID: big.ID})
}

// here returns the ID of this computer.
func (g *gallery) here() (id protocol.NodeID) {
	g.t.Helper()
	g.until("this computer and the server", func() bool {
		up := 0
		for _, n := range ask(g, protocol.NodesList, protocol.Empty{}).Nodes {
			if n.Online {
				up++
			}
			if n.Local {
				id = n.ID
			}
		}
		return id != "" && up == 2
	})
	return id
}

// newGallery starts the program in dark colours.
func newGallery(t *testing.T, set string) *gallery {
	t.Helper()
	p := start(newDesktop(t))
	g := &gallery{day: &day{p, p.gateway()}, set: set, theme: "dark"}
	t.Cleanup(func() {
		if err := writeIndex(g.shots); err != nil {
			t.Error(err)
		}
	})
	if err := setConfig(g.c, "ui.theme", "dark"); err != nil {
		t.Fatal(err)
	}
	w := g.waitWindow(mainWindow)
	g.run("xdotool", "windowmove", "--sync", w.id, "20", "60")
	g.until("dark windows", func() bool { return !g.light(mainWindow) })
	return g
}

func TestGalleryOfWhatIsEmpty(t *testing.T) {
	g := newGallery(t, "empty")
	g.main("first-run")
	g.clickText(mainWindow, "Start now")
	g.pages()
	g.settings()
}

func TestGalleryOfWhatIsInUse(t *testing.T) {
	g := newGallery(t, "full")
	g.clickText(mainWindow, "Start now")
	g.fill()
	g.pages()
	g.page("Machines")
	g.click(g.waitTextIn(mainWindow, "server", left))
	g.main("machine")
	g.page("Machines")
	if err := setConfig(g.c, "network.enabled", true); err != nil {
		t.Fatal(err)
	}
	g.clickText(mainWindow, "Add a machine")
	g.clickText(mainWindow, "Invite a machine")
	g.waitTextIn(mainWindow, "curl", func(w window) window { w.x, w.w = w.x+500, w.w-500; return w })
	g.main("invitation")
	g.page("Schedule")
	// by its colour: OCR does not recognize its text
	g.until("the button for a new schedule", func() bool {
		w, ok := g.windowNamed(mainWindow)
		areas := g.coloured(corner(w))
		if !ok || len(areas) != 1 {
			return false
		}
		g.click(areas[0].Min.Add(areas[0].Size().Div(2)))
		return true
	})
	g.main("schedule-form")
	g.page("Files")
	g.clickText(mainWindow, "README.md")
	g.main("file")
	g.keys("ctrl+f")
	g.typeText("package")
	g.main("search-found")
	g.rightClick(g.waitTextIn(mainWindow, "Go files", left))
	g.clickText(mainWindow, "new window")
	const own = "Go files – Fairlead$"
	g.take(own, "torn-off", shape{"wide", 720, 640}, shapes[1])
	g.activate(g.waitWindow(own))
	g.keys("ctrl+w")
	g.waitNoWindow(own)
	g.click(g.waitTextIn(mainWindow, "Main chat", left))
	for _, text := range []string{"run make -j4 && sudo systemctl restart parser", "replace project with programme in README.md"} {
		ask(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text})
		w := g.waitWindow(question)
		g.take(question, "question-"+strings.Fields(text)[0], shape{"usual", w.w, w.h}, shapes[1])
		g.activate(g.waitWindow(mainWindow))
		g.main("chat-" + strings.Fields(text)[0])
		g.page("Needs you")
		g.main("needs-you-" + strings.Fields(text)[0])
		g.activate(g.waitWindow(question))
		g.keys("Escape")
		g.waitNoWindow(question)
		g.click(g.waitTextIn(mainWindow, "Main chat", left))
	}
}

func TestGalleryOfLargeText(t *testing.T) {
	g := newGallery(t, "large")
	g.clickText(mainWindow, "Start now")
	g.fill()
	if err := setConfig(g.c, "ui.textSize", 1.5); err != nil {
		t.Fatal(err)
	}
	g.pages()
	g.settings()
}
