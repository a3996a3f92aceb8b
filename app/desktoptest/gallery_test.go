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
	*chatProgram
	set    string // prefix of the pictures' names
	themes []string
	theme  string // that the windows have now
}

type windowSize struct {
	name string
	w, h int
}

// largestText is the largest size in the settings, style.TextLargest.
const largestText = 1.35

var windowSizes = []windowSize{{"wide", 1120, 760}, {"narrow", 480, 560}}

// newGallery starts the program in dark colours.
func newGallery(t *testing.T, set string) *gallery {
	t.Helper()
	p := startProgram(newDesktop(t))
	g := &gallery{chatProgram: &chatProgram{p, p.gateway()}, set: set, themes: []string{"dark", "light"}, theme: "dark"}
	if err := setConfig(g.c, "ui.theme", "dark"); err != nil {
		t.Fatal(err)
	}
	w := g.waitWindow(mainWindow)
	g.run("xdotool", "windowmove", "--sync", w.id, "20", "60")
	g.waitFor("dark windows", func() bool { return !g.isLight(mainWindow) })
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

// setTheme changes the theme of all windows.
func (g *gallery) setTheme(pattern, theme string) {
	g.t.Helper()
	if g.theme == theme {
		return
	}
	if err := setConfig(g.c, "ui.theme", theme); err != nil {
		g.t.Fatal(err)
	}
	g.theme = theme
	g.waitFor(theme+" windows", func() bool { return g.isLight(pattern) == (theme == "light") })
}

// isLight reports whether a window's background is light: its pixel beside the left edge.
func (g *gallery) isLight(pattern string) bool {
	w, ok := g.windowNamed(pattern)
	if !ok {
		return false
	}
	pic, err := g.screen.capture(window{w.id, w.x + 2, w.y + w.h/2, 1, 1})
	return err == nil && pic.Pix[0] > 128
}

// resize resizes a window to its default or minimum size.
func (g *gallery) resize(pattern string, s windowSize) window {
	g.t.Helper()
	w := g.waitWindow(pattern)
	if w.w == s.w && w.h == s.h {
		return w
	}
	g.run("xdotool", "windowsize", w.id, strconv.Itoa(s.w), strconv.Itoa(s.h))
	still := 0
	g.waitFor("the size "+s.name, func() bool {
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

// maxPictureWait is the time after which a picture is taken of a window that keeps changing, such
// as a field with a cursor.
const maxPictureWait = 4 * time.Second

// savePicture saves a picture of a window once it has not changed for half a second.
func (g *gallery) savePicture(pattern, name string) {
	g.t.Helper()
	g.saveStill(g.waitWindow(pattern), name)
}

// saveStill is savePicture for a part of the screen.
func (g *gallery) saveStill(w window, name string) {
	g.t.Helper()
	var last []byte
	since := time.Now()
	began := since
	g.waitFor("a still picture of "+name, func() bool {
		pic, err := g.screen.capture(w)
		if err != nil {
			return false
		}
		if !bytes.Equal(pic.Pix, last) {
			last, since = pic.Pix, time.Now()
		}
		if time.Since(since) < 500*time.Millisecond && time.Since(began) < maxPictureWait {
			return false
		}
		if err := savePNG(pic, filepath.Join(g.shots, g.set+"-"+name+".png")); err != nil {
			g.t.Fatal(err)
		}
		return true
	})
}

// takePictures takes the pictures of a window in some sizes. It begins with the present size and
// theme and leaves the window in the last ones, because each change takes a second.
func (g *gallery) takePictures(pattern, name string, sizes ...windowSize) {
	g.t.Helper()
	if w := g.waitWindow(pattern); len(sizes) > 1 && w.w == sizes[len(sizes)-1].w {
		sizes = slices.Clone(sizes)
		slices.Reverse(sizes)
	}
	for _, s := range sizes {
		g.resize(pattern, s)
		themes := slices.Clone(g.themes)
		if themes[0] != g.theme {
			slices.Reverse(themes)
		}
		for _, theme := range themes {
			g.setTheme(pattern, theme)
			g.moveMouseOut(pattern)
			g.savePicture(pattern, name+"-"+s.name+"-"+theme)
		}
	}
}

// moveMouseOut moves the mouse out of the window, in steps, so that the window notices.
func (g *gallery) moveMouseOut(pattern string) {
	w := g.waitWindow(pattern)
	g.run("xdotool", "mousemove", strconv.Itoa(w.x+w.w/2), strconv.Itoa(w.y+w.h-3), "sleep", "0.05", "mousemove", "1275", "895")
}

// takeMainWindow takes the pictures of the main window.
func (g *gallery) takeMainWindow(name string) {
	g.t.Helper()
	g.takePictures(mainWindow, name, windowSizes...)
}

// prepareMainWindow makes the main window wide and dark, so that the screen can be read and
// clicked.
func (g *gallery) prepareMainWindow() window {
	g.t.Helper()
	w := g.resize(mainWindow, windowSizes[0])
	g.setTheme(mainWindow, "dark")
	g.activate(w)
	return w
}

// openByPalette opens what the palette finds first.
func (g *gallery) openByPalette(query string) {
	g.t.Helper()
	g.activate(g.waitWindow(mainWindow))
	g.keys("ctrl+k")
	g.typeText(query)
	g.keys("Return")
}

// takePages opens pages by their titles and takes their pictures.
func (g *gallery) takePages(prefix string, titles ...string) {
	g.t.Helper()
	for _, title := range titles {
		g.openByPalette(title)
		g.takeMainWindow(prefix + strings.ToLower(strings.ReplaceAll(title, " ", "-")))
	}
}

// takeEveryPage takes pictures of all pages that open by their titles.
func (g *gallery) takeEveryPage() {
	g.t.Helper()
	g.takeMainWindow("chat")
	g.takePages("", "Needs you", "Files", "Transfers", "Schedule", "Activity", "Audit log", "Machines", "Keyboard shortcuts")
	g.takePages("settings-", "General", "Models", "Notifications", "This computer", "Approvals and rules", "Tools", "Skills", "Channels", "Connected apps", "Published apps", "Who can reach what", "Gateways", "Help", "About", "All settings")
	g.activate(g.resize(mainWindow, windowSizes[1]))
	g.keys("Escape") // from the page to the list
	g.takePictures(mainWindow, "settings-list", windowSizes[1])
	g.openByPalette("Search all messages")
	g.takeMainWindow("search")
	for _, p := range [][2]string{{"palette", ""}, {"palette-found", "mach"}, {"palette-nothing", "zebra"}} {
		g.activate(g.waitWindow(mainWindow))
		g.keys("ctrl+k")
		g.typeText(p[1])
		g.takeMainWindow(p[0])
		g.keys("ctrl+k")
	}
	g.openByPalette("Main chat")
	w := g.resize(mainWindow, windowSizes[1])
	g.click(image.Pt(w.x+24, w.y+24))
	g.takePictures(mainWindow, "drawer", windowSizes[1])
	g.click(image.Pt(w.x+w.w-30, w.y+w.h/2))
}

// takeForms takes pictures of the forms that make something new.
func (g *gallery) takeForms() {
	g.t.Helper()
	for _, action := range []string{"New schedule", "New rule", "New skill", "Add an MCP server", "Add a machine", "Publish an app", "Forward a port"} {
		g.openByPalette(action)
		g.takeMainWindow("form-" + strings.ToLower(strings.ReplaceAll(action, " ", "-")))
	}
	g.openByPalette("Send files")
	const chooser = "^Send files"
	w := g.waitWindow(chooser)
	g.takePictures(chooser, "form-send-files", windowSize{"usual", w.w, w.h}, windowSizes[1])
	g.activate(w)
	g.keys("Escape")
	g.waitNoWindow(chooser)
}
