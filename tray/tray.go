// Package tray shows the tray icon and its menu for a snapshot of the program's state. When entries
// come or go, it rebuilds the whole menu, because the library cannot insert single ones.
package tray

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"reflect"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/theme"
	"fyne.io/systray"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/assets"
	"fairlead/gateway/peer/format"
)

// Tray is the icon in the panel. It belongs to the GUI thread.
type Tray struct {
	app     desktop.App
	run     func(Item)
	panel   style.Mode
	current Content
	isDrawn bool
	// setMenu shows the entries of a menu, and setTooltip the icon's tooltip, which the toolkit
	// cannot.
	setMenu    func([]*fyne.MenuItem)
	setTooltip func(string)
}

// New returns an icon for a panel that is light or dark, or [style.System] if that is unknown. do
// is called with the chosen entry, until ctx ends.
func New(ctx context.Context, app desktop.App, panel style.Mode, do func(Item)) *Tray {
	app.SetSystemTrayIcon(glyph(assets.TrayIdle, 0, false, panel))
	m := &menu{ctx: ctx}
	return &Tray{app: app, run: do, panel: panel, setMenu: m.set, setTooltip: systray.SetTooltip}
}

// Start adds the icon to the panel, until ctx ends. It may replace what intercepts that w, any
// window, is closed. The first Show must be after the application has started.
func (t *Tray) Start(ctx context.Context, w fyne.Window) { start(ctx, t.app, w) }

// Show shows a snapshot, if it differs from the current one.
func (t *Tray) Show(s Content) {
	if t.isDrawn && reflect.DeepEqual(s, t.current) {
		return
	}
	if !t.isDrawn || s.Icon != t.current.Icon || s.Needs != t.current.Needs || s.Public != t.current.Public {
		t.app.SetSystemTrayIcon(glyph(icons[s.Icon], s.Needs, s.Public != "", t.panel))
	}
	if t.isDrawn && (s.Status != t.current.Status || s.Public != t.current.Public) {
		t.setTooltip(wording.Join(" · ", "Fairlead: "+s.Status, s.Public))
	}
	t.setMenu(t.items(s.Items))
	t.current, t.isDrawn = s, true
}

var icons = map[Icon]assets.TrayState{
	Idle: assets.TrayIdle, Working: assets.TrayWorking, NeedsYou: assets.TrayNeedsYou,
	Offline: assets.TrayOffline, Error: assets.TrayError, Paused: assets.TrayPaused,
}

// glyphSize is the size of the icon in pixels; panels make it smaller.
const glyphSize = 64

// glyph returns the icon for this system: light on a dark panel, dark on a light one, and light
// with a dark outline where the panel is unknown. A mark warns that something is public. macOS
// colours the icon, except one with a badge or a mark.
func glyph(s assets.TrayState, needs int, isMarked bool, panel style.Mode) fyne.Resource {
	ink := widgets.Choose(panel == style.Light, assets.TrayDark, assets.TrayLight)
	switch {
	case runtime.GOOS == "darwin" && (s == assets.TrayNeedsYou || isMarked):
		return style.TrayIcon(s, needs, isMarked, assets.TrayInk)
	case runtime.GOOS == "darwin":
		return theme.NewThemedResource(style.TrayIcon(s, needs, isMarked, assets.Ink))
	case runtime.GOOS == "windows":
		return style.TrayIcon(s, needs, isMarked, widgets.Choose(panel == style.System, assets.TrayInk, ink))
	}
	return sharpen(style.TrayIcon(s, needs, isMarked, ink), panel == style.System)
}

// sharpen renders an icon with opaque and transparent pixels only. fyne.io/systray transmits wrong
// colours for all others over D-Bus (argbForImage uses the lower half of premultiplied values). The
// edges become smooth when the panel makes the icon smaller. An outline is as wide as a pixel of a
// small panel.
func sharpen(icon fyne.Resource, outline bool) fyne.Resource {
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
	if outline {
		sharp = withOutline(sharp)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, sharp); err != nil {
		return icon
	}
	return fyne.NewStaticResource(icon.Name()+".png", out.Bytes())
}

// outlineWidth is in pixels of the icon.
const outlineWidth = glyphSize / 20

// withOutline returns the icon with a dark edge around it.
func withOutline(icon *image.NRGBA) *image.NRGBA {
	dark := color.NRGBA{A: 255}
	fmt.Sscanf(assets.TrayDark, "#%02x%02x%02x", &dark.R, &dark.G, &dark.B) //nolint:errcheck // it is a constant
	out := image.NewNRGBA(icon.Rect)
	for y := range icon.Rect.Dy() {
		for x := range icon.Rect.Dx() {
			if icon.NRGBAAt(x, y).A == 0 {
				continue
			}
			for dy := -outlineWidth; dy <= outlineWidth; dy++ {
				for dx := -outlineWidth; dx <= outlineWidth; dx++ {
					if dx*dx+dy*dy <= outlineWidth*outlineWidth {
						out.Set(x+dx, y+dy, dark)
					}
				}
			}
		}
	}
	draw.Draw(out, out.Rect, icon, image.Point{}, draw.Over)
	return out
}

// plain escapes a label so that the system shows it literally: freedesktop menus use an underscore,
// and Windows an ampersand, to mark a mnemonic, and show a doubled one as a single one. It removes
// invisible characters, such as direction marks.
func plain(label, system string) string {
	label = format.Line(label, 0)
	switch system {
	case "windows":
		return strings.ReplaceAll(label, "&", "&&")
	case "darwin":
		return label
	}
	return strings.ReplaceAll(label, "_", "__")
}

func (t *Tray) items(list []Item) []*fyne.MenuItem {
	var out []*fyne.MenuItem
	for _, i := range list {
		if i.Separator {
			out = append(out, fyne.NewMenuItemSeparator())
			continue
		}
		item := fyne.NewMenuItem(plain(i.Label, runtime.GOOS), func() { t.run(i) })
		item.Disabled, item.Checked = i.Disabled, i.Checked
		if len(i.Items) > 0 {
			item.ChildMenu = fyne.NewMenu(item.Label, t.items(i.Items)...)
		}
		out = append(out, item)
	}
	return out
}
