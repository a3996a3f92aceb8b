// Package tray shows the tray icon and its menu for a snapshot of the program's state. When the
// snapshot changes, it rebuilds the whole menu, because the library cannot list or remove single
// entries of a menu.
package tray

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/systray"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/assets"
	"fairlead/gateway/peer/display"
)

// Tray is the icon in the panel. It belongs to the GUI thread.
type Tray struct {
	app     desktop.App
	run     func(state.TrayItem)
	current state.Tray
	isDrawn bool
	// setTooltip sets the icon's tooltip, which the toolkit cannot.
	setTooltip func(string)
}

// New adds an icon to the panel. do is called with the chosen entry.
func New(app desktop.App, do func(state.TrayItem)) *Tray {
	return &Tray{app: app, run: do, setTooltip: systray.SetTooltip}
}

// Show shows a snapshot, if it differs from the current one.
func (t *Tray) Show(s state.Tray) {
	if t.isDrawn && reflect.DeepEqual(s, t.current) {
		return
	}
	if !t.isDrawn || s.Icon != t.current.Icon || s.Needs != t.current.Needs {
		t.app.SetSystemTrayIcon(glyph(icons[s.Icon], s.Needs))
	}
	if t.isDrawn && s.Status != t.current.Status { // there is no icon before the first menu
		t.setTooltip("Fairlead: " + s.Status)
	}
	t.app.SetSystemTrayMenu(fyne.NewMenu("Fairlead", t.items(s.Items)...))
	t.current, t.isDrawn = s, true
}

var icons = map[state.TrayIcon]assets.TrayState{
	state.TrayIdle: assets.TrayIdle, state.TrayWorking: assets.TrayWorking, state.TrayNeedsYou: assets.TrayNeedsYou,
	state.TrayOffline: assets.TrayOffline, state.TrayError: assets.TrayError, state.TrayPaused: assets.TrayPaused,
}

// glyphSize is the size of the icon in pixels; panels make it smaller.
const glyphSize = 64

// glyph returns the icon for this system.
func glyph(s assets.TrayState, needs int) fyne.Resource {
	r := style.TrayIcon(s, needs)
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return r
	}
	return sharpen(r)
}

// sharpen renders an icon with opaque and transparent pixels only. fyne.io/systray transmits wrong
// colours for all others over D-Bus (argbForImage uses the lower half of premultiplied values). The
// edges become smooth when the panel makes the icon smaller.
func sharpen(icon fyne.Resource) fyne.Resource {
	c := software.NewTransparentCanvas()
	c.SetPadded(false)
	c.SetContent(canvas.NewImageFromResource(icon))
	c.Resize(fyne.NewSquareSize(glyphSize))
	smooth := c.Capture()
	sharp := image.NewNRGBA(smooth.Bounds())
	for y := range sharp.Rect.Dy() {
		for x := range sharp.Rect.Dx() {
			pixel := color.NRGBAModel.Convert(smooth.At(x, y)).(color.NRGBA)
			if pixel.A >= 128 {
				pixel.A = 255
				sharp.SetNRGBA(x, y, pixel)
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, sharp); err != nil {
		return icon
	}
	return fyne.NewStaticResource(icon.Name()+".png", out.Bytes())
}

// plain escapes a label so that the system shows it literally: freedesktop menus use an underscore,
// and Windows an ampersand, to mark a mnemonic, and show a doubled one as a single one. It removes
// invisible characters, such as direction marks.
func plain(label, system string) string {
	label = display.Line(label, 0)
	switch system {
	case "windows":
		return strings.ReplaceAll(label, "&", "&&")
	case "darwin":
		return label
	}
	return strings.ReplaceAll(label, "_", "__")
}

func (t *Tray) items(list []state.TrayItem) []*fyne.MenuItem {
	var out []*fyne.MenuItem
	for _, i := range list {
		if i.Separator {
			out = append(out, fyne.NewMenuItemSeparator())
			continue
		}
		item := fyne.NewMenuItem(plain(i.Label, runtime.GOOS), func() { t.run(i) })
		item.Disabled, item.Checked = i.Disabled, i.Checked
		item.IsQuit = i.Do == state.TrayQuit
		if len(i.Items) > 0 {
			item.ChildMenu = fyne.NewMenu(item.Label, t.items(i.Items)...)
		}
		out = append(out, item)
	}
	return out
}
