//go:build desktop && gallery

package desktoptest

import (
	"bytes"
	"context"
	"image"
	"path/filepath"
	"slices"
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
	set    string // prefix of the pictures' names
	themes []string
	theme  string // that the windows have now
}

type shape struct {
	name string
	w, h int
}

// largestText is the largest size in the settings, style.TextLargest.
const largestText = 1.35

var shapes = []shape{{"wide", 1120, 760}, {"narrow", 480, 560}}

// newGallery starts the program in dark colours.
func newGallery(t *testing.T, set string) *gallery {
	t.Helper()
	p := start(newDesktop(t))
	g := &gallery{day: &day{p, p.gateway()}, set: set, themes: []string{"dark", "light"}, theme: "dark"}
	if err := setConfig(g.c, "ui.theme", "dark"); err != nil {
		t.Fatal(err)
	}
	w := g.waitWindow(mainWindow)
	g.run("xdotool", "windowmove", "--sync", w.id, "20", "60")
	g.until("dark windows", func() bool { return !g.light(mainWindow) })
	return g
}

// call calls a method of the gateway.
func call[P, R any](g *gallery, m protocol.Method[P, R], p P) R {
	g.t.Helper()
	r, err := client.Call(context.Background(), g.c, m, p)
	if err != nil {
		g.t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

// colours changes the theme of all windows.
func (g *gallery) colours(pattern, theme string) {
	g.t.Helper()
	if g.theme == theme {
		return
	}
	if err := setConfig(g.c, "ui.theme", theme); err != nil {
		g.t.Fatal(err)
	}
	g.theme = theme
	g.until(theme+" windows", func() bool { return g.light(pattern) == (theme == "light") })
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
		return still == 2
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

// take takes the pictures of a window in some sizes. It begins with the present size and theme and
// leaves the window in the last ones, because each change takes a second.
func (g *gallery) take(pattern, name string, sizes ...shape) {
	g.t.Helper()
	if w := g.waitWindow(pattern); len(sizes) > 1 && w.w == sizes[len(sizes)-1].w {
		sizes = slices.Clone(sizes)
		slices.Reverse(sizes)
	}
	for _, s := range sizes {
		g.size(pattern, s)
		themes := slices.Clone(g.themes)
		if themes[0] != g.theme {
			slices.Reverse(themes)
		}
		for _, theme := range themes {
			g.colours(pattern, theme)
			g.away(pattern)
			g.picture(pattern, name+"-"+s.name+"-"+theme)
		}
	}
}

// away moves the mouse out of the window, in steps, so that the window notices.
func (g *gallery) away(pattern string) {
	w := g.waitWindow(pattern)
	g.run("xdotool", "mousemove", strconv.Itoa(w.x+w.w/2), strconv.Itoa(w.y+w.h-3), "sleep", "0.05", "mousemove", "1275", "895")
}

// main takes the pictures of the main window.
func (g *gallery) main(name string) { g.t.Helper(); g.take(mainWindow, name, shapes...) }

// ready makes the main window wide and dark, so that the screen can be read and clicked.
func (g *gallery) ready() window {
	g.t.Helper()
	w := g.size(mainWindow, shapes[0])
	g.colours(mainWindow, "dark")
	g.activate(w)
	return w
}

// open opens what the palette finds first.
func (g *gallery) open(query string) {
	g.t.Helper()
	g.activate(g.waitWindow(mainWindow))
	g.keys("ctrl+k")
	g.typeText(query)
	g.keys("Return")
}

// pages opens pages by their titles and takes their pictures.
func (g *gallery) pages(prefix string, titles ...string) {
	g.t.Helper()
	for _, title := range titles {
		g.open(title)
		g.main(prefix + strings.ToLower(strings.ReplaceAll(title, " ", "-")))
	}
}

// everyPage takes pictures of all pages that open by their titles.
func (g *gallery) everyPage() {
	g.t.Helper()
	g.main("chat")
	g.pages("", "Needs you", "Files", "Transfers", "Schedule", "Activity", "Audit log", "Machines", "Keyboard shortcuts")
	g.pages("settings-", "General", "Models", "Notifications", "This computer", "Approvals and rules", "Tools", "Skills", "Channels", "Connected apps", "Gateways", "Help", "About", "All settings")
	g.activate(g.size(mainWindow, shapes[1]))
	g.keys("Escape") // from the page to the list
	g.take(mainWindow, "settings-list", shapes[1])
	g.open("Search all messages")
	g.main("search")
	for _, p := range [][2]string{{"palette", ""}, {"palette-found", "mach"}, {"palette-nothing", "zebra"}} {
		g.activate(g.waitWindow(mainWindow))
		g.keys("ctrl+k")
		g.typeText(p[1])
		g.main(p[0])
		g.keys("ctrl+k")
	}
	g.open("Main chat")
	w := g.size(mainWindow, shapes[1])
	g.click(image.Pt(w.x+24, w.y+24))
	g.take(mainWindow, "drawer", shapes[1])
	g.click(image.Pt(w.x+w.w-30, w.y+w.h/2))
}

// forms takes pictures of the forms that make something new.
func (g *gallery) forms() {
	g.t.Helper()
	for _, action := range []string{"New schedule", "New rule", "New skill", "Add an MCP server", "Pair a machine"} {
		g.open(action)
		g.main("form-" + strings.ToLower(strings.ReplaceAll(action, " ", "-")))
	}
	g.open("Send files")
	const chooser = "^Send files"
	w := g.waitWindow(chooser)
	g.take(chooser, "form-send-files", shape{"usual", w.w, w.h}, shapes[1])
	g.activate(w)
	g.keys("Escape")
	g.waitNoWindow(chooser)
}
