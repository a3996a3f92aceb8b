package assets

import (
	"fmt"
	"strings"
)

// TrayState is the state shown by the tray glyph.
type TrayState int

const (
	TrayIdle TrayState = iota
	TrayWorking
	TrayNeedsYou
	TrayOffline
	TrayError
)

// The tray's colours. A panel may be light or dark, which the program cannot query, so each colour
// has a contrast of at least 3:1 with white and with a panel of #202124.
const (
	TrayInk   = "#7D838C"
	TrayBadge = "#C97A00"
	badgeText = "#141210"
)

// Tray returns the tray's glyph as SVG, 32 units square. needs is the number in the badge of
// [TrayNeedsYou]; from ten on it is shown as 9+.
func Tray(state TrayState, needs int) []byte {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32">` + "\n")
	line := func(width float64, path string) {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="%g" stroke-linecap="round"/>`+"\n", path, TrayInk, width)
	}
	const ring, base = "M16 3.5A9.5 9.5 0 0 1 16 22.5A9.5 9.5 0 0 1 16 3.5Z", "M5 28.5H27"
	switch state {
	case TrayOffline:
		line(2, ring)
		line(2, base)
	case TrayError:
		// The ring has a gap at the slash: at 16 pixels they would merge.
		line(4.5, "M8.5 18.8A9.5 9.5 0 0 1 20.2 4.4")
		line(4.5, "M24.5 8.8A9.5 9.5 0 0 1 12.9 22")
		line(4.5, "M14 28.5H27")
		line(4, "M4 27.5L27.5 2.5")
	case TrayWorking:
		line(4.5, ring)
		line(4.5, base)
		fmt.Fprintf(&b, `<circle cx="16" cy="13" r="4.2" fill="%s"/>`+"\n", TrayInk)
	case TrayNeedsYou:
		line(4.5, ring)
		line(4.5, base)
		badge(&b, needs)
	default:
		line(4.5, ring)
		line(4.5, base)
	}
	b.WriteString("</svg>\n")
	return outline([]byte(b.String()))
}

// badge draws the badge with its number over the lower right part of the glyph.
func badge(b *strings.Builder, needs int) {
	text := fmt.Sprint(max(needs, 1))
	x, width := 13.0, 19.0
	if needs > 9 {
		text, x, width = "9+", 6, 26
	}
	fmt.Fprintf(b, `<rect x="%g" y="12" width="%g" height="20" rx="5" fill="%s"/>`+"\n", x, width, TrayBadge)
	// dot size of the digits, which are three dots wide and five high: large dots stay sharper when
	// a panel shrinks them
	const dot = 2.8
	left := x + (width-float64(len(text)*4-1)*dot)/2
	for i, r := range text {
		for row, line := range strings.Fields(digits[r]) {
			for col, c := range line {
				if c != '#' {
					continue
				}
				fmt.Fprintf(b, `<rect x="%.2f" y="%.2f" width="%[3]g" height="%[3]g" fill="%[4]s"/>`+"\n",
					left+float64(i*4+col)*dot, 15+float64(row)*dot, dot+0.1, badgeText)
			}
		}
	}
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
