// Package assets contains the embedded pictures: the icons of the windows, the tray glyphs and the
// program's own icon. It does not depend on a GUI toolkit; app/style turns the icons into coloured
// resources.
//
// Fyne's renderer neither scales nor recolours strokes: a stroke of 2 would be two pixels wide at
// any size, and black. So icons/ contains filled outlines, which a test creates from the drawings in
// source/: go test ./assets -update.
package assets

import (
	"embed"
	"fmt"
	"strings"
)

// AppPNG is the program's icon, a fairlead with its line, 512 pixels square.
//
//go:embed app.png
var AppPNG []byte

//go:embed icons/*.svg
var icons embed.FS

// Ink is the colour in which every icon is drawn; users replace it.
const Ink = "#000000"

// Icon returns the SVG of an icon, such as "copy": 24 units square, lines two units wide,
// everything filled with [Ink]. It panics for an unknown name, which any test of the caller reveals.
func Icon(name string) []byte {
	data, err := icons.ReadFile("icons/" + name + ".svg")
	if err != nil {
		panic("assets: no icon " + name)
	}
	return data
}

// TrayState is the state shown by the tray glyph: the name of its icon without "tray-".
type TrayState string

const (
	TrayIdle     TrayState = "idle"
	TrayWorking  TrayState = "working"
	TrayNeedsYou TrayState = "needsyou" // the idle glyph with a badge
	TrayOffline  TrayState = "offline"
	TrayError    TrayState = "error"
	TrayPaused   TrayState = "paused"
)

// The tray's colours. The badge has a contrast of at least 3:1 with white and with a panel of #202124.
const (
	TrayInk   = "#8E8E8E" // of the glyphs in source/; users replace it by one of the next two
	TrayLight = "#F4F4F4" // on a dark panel
	TrayDark  = "#2A2A2A" // on a light panel, and around a light glyph on an unknown one
	TrayBadge = "#C97A00"
	badgeText = "#141210"
)

// Tray returns the tray's glyph as SVG, 32 units square. needs is the number in the badge of
// [TrayNeedsYou]; from ten on it is shown as 9+.
func Tray(state TrayState, needs int) []byte {
	if state != TrayNeedsYou {
		return Icon("tray-" + string(state))
	}
	glyph := strings.TrimSuffix(string(Icon("tray-idle")), "</svg>\n")
	return []byte(glyph + badge(needs) + "</svg>\n")
}

// WithMark adds a mark to the tray's glyph, in its upper left corner: something is public without
// sign-in. The badge leaves that corner free.
func WithMark(glyph []byte) []byte {
	const mark = `<path fill="` + TrayBadge + `" d="M0 0L15 0L0 15Z"/>` + "\n</svg>\n"
	return []byte(strings.TrimSuffix(string(glyph), "</svg>\n") + mark)
}

// badge draws the badge with its number over the lower right part of the glyph.
func badge(needs int) string {
	text := fmt.Sprint(max(needs, 1))
	x, width := 13.0, 19.0
	if needs > 9 {
		text, x, width = "9+", 6, 26
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<rect x="%g" y="12" width="%g" height="20" rx="5" fill="%s"/>`+"\n", x, width, TrayBadge)
	// dot size of the digits, which are three dots wide and five high: large dots stay sharper when
	// a panel shrinks them
	const dot = 2.8
	left := x + (width-float64(len(text)*4-1)*dot)/2
	for i, r := range text {
		for row, line := range strings.Fields(digits[r]) {
			for col, c := range line {
				if c == '#' {
					fmt.Fprintf(&b, `<rect x="%.2f" y="%.2f" width="%[3]g" height="%[3]g" fill="%[4]s"/>`+"\n",
						left+float64(i*4+col)*dot, 15+float64(row)*dot, dot+0.1, badgeText)
				}
			}
		}
	}
	return b.String()
}

var digits = map[rune]string{
	'1': ".#. ##. .#. .#. ###",
	'2': "### ..# ### #.. ###",
	'3': "### ..# .## ..# ###",
	'4': "#.# #.# ### ..# ..#",
	'5': "### #.. ### ..# ###",
	'6': "### #.. ### #.# ###",
	'7': "### ..# ..# .#. .#.",
	'8': "### #.# ### #.# ###",
	'9': "### #.# ### ..# ###",
	'+': "... .#. ### .#. ...",
}
