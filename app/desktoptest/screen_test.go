//go:build desktop

package desktoptest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// Windows by regular expressions of their titles.
const (
	mainWindow = "^Fairlead$"
	question   = " wants to "
)

// waitTimeout is the timeout of a wait: on a busy machine, reading the screen alone takes many
// seconds.
const waitTimeout = 3 * time.Minute

// minAttempts is the minimum number of attempts before a wait fails, however long they take.
const minAttempts = 4

// desktop is the screen with its programs.
type desktop struct {
	t      *testing.T
	shots  string // folder for screenshots
	n      int
	bus    *dbus.Conn // set by the first access to the tray
	screen *screenReader

	readings []reading // since the mouse or the keyboard was last used; see currentPosition
	texts    map[area]lastReading
}

func newDesktop(t *testing.T) *desktop {
	t.Helper()
	if os.Getenv("DISPLAY") == "" || os.Getenv("FAIRLEAD_IN_BUS") == "" {
		t.Fatal("start this test with packaging/desktop-test.sh")
	}
	dir := os.Getenv("FAIRLEAD_SHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	eye, err := newScreenReader()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(eye.c.Close)
	return &desktop{t: t, shots: dir, screen: eye, texts: map[area]lastReading{}}
}

func (d *desktop) run(name string, args ...string) string {
	d.t.Helper()
	out, err := d.try(name, args...)
	if err != nil {
		d.screenshot("failed")
		d.t.Fatal(err)
	}
	return out
}

func (d *desktop) try(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// screenshot saves a picture of the screen and returns its path.
func (d *desktop) screenshot(name string) string {
	d.t.Helper()
	d.n++
	path := filepath.Join(d.shots, fmt.Sprintf("%02d-%s.png", d.n, name))
	everything := window{w: 1 << 15, h: 1 << 15} // at least the screen
	if err := savePNG(d.capture(everything), path); err != nil {
		d.t.Logf("no screenshot: %v", err)
	}
	return path
}

// waitFor waits for cond, which it checks four times a second, and on a timeout fails with a
// picture.
func (d *desktop) waitFor(what string, cond func() bool) {
	d.t.Helper()
	end := time.Now().Add(waitTimeout)
	for looks := 1; ; looks++ {
		if cond() {
			return
		}
		if time.Now().After(end) && looks >= minAttempts {
			d.screenshot("failed")
			d.t.Fatalf("%s did not happen within %s", what, waitTimeout)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// window is a window's ID and position on the screen.
type window struct {
	id         string
	x, y, w, h int
}

// windowNamed finds a visible window by a regular expression of its title; ok is false if there is
// none.
func (d *desktop) windowNamed(pattern string) (window, bool) {
	out, err := d.try("xdotool", "search", "--onlyvisible", "--name", pattern)
	if err != nil || strings.TrimSpace(out) == "" {
		return window{}, false
	}
	id := strings.Fields(out)[0]
	// xdotool getwindowgeometry counts the frame twice after the window was hidden (xdotool
	// 3.20160805).
	out, err = d.try("xwininfo", "-id", id)
	if err != nil {
		return window{}, false
	}
	w := window{id: id}
	for _, line := range strings.Split(out, "\n") {
		k, v, _ := strings.Cut(strings.TrimSpace(line), ":")
		n, _ := strconv.Atoi(strings.TrimSpace(v))
		switch k {
		case "Absolute upper-left X":
			w.x = n
		case "Absolute upper-left Y":
			w.y = n
		case "Width":
			w.w = n
		case "Height":
			w.h = n
		}
	}
	return w, true
}

func (d *desktop) waitWindow(pattern string) window {
	d.t.Helper()
	var w window
	d.waitFor("a window named "+pattern, func() bool {
		var ok bool
		w, ok = d.windowNamed(pattern)
		return ok
	})
	return w
}

func (d *desktop) waitNoWindow(pattern string) {
	d.t.Helper()
	d.waitFor("the end of the window "+pattern, func() bool {
		_, ok := d.windowNamed(pattern)
		return !ok
	})
}

// find finds consecutive words on a line and returns their centre. It prefers an exact match, then
// a partial match that ignores case, and then one word that equals the whole phrase: OCR recognizes
// letters better than spaces ("1of2"), and sometimes gets one letter of a long word wrong ("bouts"
// for boats).
func find(words []word, phrase string) (image.Point, bool) {
	if p, ok := findBy(words, phrase, equal); ok {
		return p, true
	}
	if p, ok := findBy(words, phrase, func(have, want string) bool { return strings.Contains(strings.ToLower(have), strings.ToLower(want)) }); ok {
		return p, true
	}
	if p, ok := findBy(words, strings.Join(strings.Fields(phrase), ""), equal); ok {
		return p, true
	}
	return findBy(words, phrase, isSimilar)
}

// isSimilar reports whether two words differ in at most one letter; short words must be equal.
func isSimilar(have, want string) bool {
	h, w := []rune(strings.ToLower(have)), []rune(strings.ToLower(want))
	isCode := len(w) == 4 && strings.ContainsAny(want, "0123456789") // 9 and S, 0 and O look the same
	if len(h) != len(w) || len(w) < 5 && !isCode {
		return have == want
	}
	wrong := 0
	for i := range h {
		if h[i] != w[i] {
			wrong++
		}
	}
	return wrong <= 1
}

func equal(have, want string) bool { return have == want }

func findBy(words []word, phrase string, same func(have, want string) bool) (image.Point, bool) {
	want := strings.Fields(phrase)
	for i := range len(words) - len(want) + 1 {
		match := true
		for j, w := range want {
			if words[i+j].line != words[i].line || !same(words[i+j].text, w) {
				match = false
				break
			}
		}
		if match {
			first, last := words[i], words[i+len(want)-1]
			return image.Pt((first.x+last.x+last.w)/2, first.y+first.h/2), true
		}
	}
	return image.Point{}, false
}

// waitText waits until a window shows a phrase and returns its position.
func (d *desktop) waitText(pattern, phrase string) image.Point {
	d.t.Helper()
	return d.waitTextIn(pattern, phrase, func(w window) window { return w })
}

// waitTextIn is waitText for a part of the window: faster, and unambiguous if the words occur
// elsewhere, too.
func (d *desktop) waitTextIn(pattern, phrase string, part func(window) window) image.Point {
	d.t.Helper()
	var all []word
	end := time.Now().Add(waitTimeout)
	for looks := 1; ; looks++ {
		if w, ok := d.windowNamed(pattern); ok {
			before := d.capture(w)
			all = d.readOnce(part(w), "")
			// usually enough: the second reading takes as long as the first
			p, ok := findBy(all, phrase, equal)
			if !ok {
				all = append(all, d.readOnce(part(w), blackAndWhite)...)
				p, ok = find(all, phrase)
			}
			if ok && d.isUnchanged(pattern, w, before, p) {
				d.rememberReading(p, before, func() image.Point { return d.waitTextIn(pattern, phrase, part) })
				return p
			}
		}
		if time.Now().After(end) && looks >= minAttempts {
			d.screenshot("failed")
			var text []string
			for _, w := range all {
				text = append(text, w.text)
			}
			d.t.Fatalf("the window %q does not show %q; it shows: %s", pattern, phrase, strings.Join(text, " "))
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// waitPlaces waits until a part of a window shows all phrases and returns their positions. It needs
// one reading for all, and a second one if the first does not find all.
func (d *desktop) waitPlaces(pattern string, part func(window) window, phrases ...string) map[string]image.Point {
	d.t.Helper()
	places := map[string]image.Point{}
	d.waitFor(strings.Join(phrases, ", ")+" in "+pattern, func() bool {
		w, ok := d.windowNamed(pattern)
		if !ok {
			return false
		}
		before := d.capture(w)
		words := d.readOnce(part(w), "")
		if places = placesOf(words, phrases); len(places) < len(phrases) {
			places = placesOf(append(words, d.readOnce(part(w), blackAndWhite)...), phrases)
		}
		if len(places) < len(phrases) || !d.isUnchanged(pattern, w, before, slices.Collect(maps.Values(places))...) {
			return false
		}
		for phrase, at := range places {
			d.rememberReading(at, before, func() image.Point { return d.waitTextIn(pattern, phrase, part) })
		}
		return true
	})
	return places
}

// isUnchanged reports whether a window is at the same position and looks the same around some
// points: otherwise the texts read before have moved.
func (d *desktop) isUnchanged(pattern string, was window, before *image.RGBA, at ...image.Point) bool {
	now, ok := d.windowNamed(pattern)
	return ok && now == was && sameAround(before, d.capture(was), at...)
}

// placesOf finds phrases; it leaves out those that are missing.
func placesOf(words []word, phrases []string) map[string]image.Point {
	places := map[string]image.Point{}
	for _, phrase := range phrases {
		if p, ok := find(words, phrase); ok {
			places[phrase] = p
		}
	}
	return places
}

// click moves the mouse to a position in steps, as a person does, and clicks. If what was read
// there has moved, it follows.
func (d *desktop) click(p image.Point) { d.t.Helper(); d.press(p, "1") }

// rightClick does the same with the secondary button.
func (d *desktop) rightClick(p image.Point) { d.t.Helper(); d.press(p, "3") }

func (d *desktop) press(p image.Point, button string) {
	d.t.Helper()
	p = d.currentPosition(p)
	d.readings = nil
	d.run("xdotool", "mousemove", strconv.Itoa(p.X-30), strconv.Itoa(p.Y-12), "sleep", "0.05",
		"mousemove", strconv.Itoa(p.X), strconv.Itoa(p.Y), "sleep", "0.25", "mousedown", button, "sleep", "0.1", "mouseup", button)
}

// clickText clicks a phrase in a window.
func (d *desktop) clickText(pattern, phrase string) {
	d.t.Helper()
	d.click(d.waitText(pattern, phrase))
}

// Parts of the main window.
func sidebar(w window) window { w.w = min(w.w, 240); return w }

// settingsList and settingsPage are the list of the settings and the page beside it.
func settingsList(w window) window { w.x, w.w = w.x+240, 256; return w }
func settingsPage(w window) window { w.x, w.w = w.x+496, w.w-496; return w }

func windowBottom(w window) window { w.y, w.h = w.y+w.h-200, 200; return w }

// toast is the area of the program's messages: above the composer, or at the foot of a page. Their
// offers expire after ten seconds, so the area to read is small.
func toast(w window) window {
	return window{w.id, w.x + 240 + (w.w-240)/2, w.y + w.h - 220, min(360, (w.w-240)/2), 220}
}
func topRightCorner(w window) window { w.x, w.w, w.h = w.x+w.w-260, 260, min(w.h, 220); return w }

// focusedTitle returns the title of the focused window.
func (d *desktop) focusedTitle() string {
	out, _ := d.try("xdotool", "getactivewindow", "getwindowname")
	return strings.TrimSpace(out)
}

func (d *desktop) title(w window) string {
	out, _ := d.try("xdotool", "getwindowname", w.id)
	return strings.TrimSpace(out)
}

// keys presses keys or shortcuts in the focused window.
func (d *desktop) keys(names ...string) {
	d.t.Helper()
	d.readings = nil
	d.run("xdotool", append([]string{"key", "--delay", "40"}, names...)...)
}

// typeText types characters of a US keyboard. For others, xdotool changes the keymap and changes it
// back, and a program that is busy meanwhile looks up a wrong character, or none.
func (d *desktop) typeText(s string) {
	d.t.Helper()
	if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		d.t.Fatalf("%q has a character without a key at %d, want less than 0", s, i)
	}
	d.readings = nil
	d.run("xdotool", "type", "--delay", "25", s)
}

func (d *desktop) activate(w window) {
	d.t.Helper()
	d.run("xdotool", "windowactivate", "--sync", w.id)
}

// brightness returns a window's average brightness, from 0 to 1.
func (d *desktop) brightness(pattern string) float64 {
	d.t.Helper()
	w := d.waitWindow(pattern)
	pic := d.capture(w)
	sum, n := 0, 0
	for y := w.y + 40; y < w.y+w.h-40; y += 7 {
		for x := w.x + 10; x < w.x+w.w-10; x += 7 {
			sum += int(color.GrayModel.Convert(pic.At(x, y)).(color.Gray).Y)
			n++
		}
	}
	return float64(sum) / float64(max(n, 1)) / 255
}

var busName = regexp.MustCompile(`org\.kde\.StatusNotifierItem[-.\w]*`)

// trayItem finds the program's tray item on the session bus.
func (d *desktop) trayItem() string {
	d.t.Helper()
	var name string
	d.waitFor("a tray item on the bus", func() bool {
		out, err := d.try("dbus-send", "--session", "--print-reply", "--dest=org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher",
			"org.freedesktop.DBus.Properties.Get", "string:org.kde.StatusNotifierWatcher", "string:RegisteredStatusNotifierItems")
		if err != nil {
			return false
		}
		name = busName.FindString(out)
		if name == "" {
			if m := regexp.MustCompile(`string "(:[\d.]+)`).FindStringSubmatch(out); m != nil {
				name = m[1]
			}
		}
		return name != ""
	})
	return name
}
