// Package style defines Fairlead's appearance: the theme with light and dark colours, text sizes,
// spacing, icons, and the machines' colours. All colours and sizes on the screen are referred to by
// names defined here, so that a change of theme or text size affects everything.
package style

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/fonts"
)

// Mode selects the light or dark variant, or the system's setting.
type Mode string

const (
	System Mode = "system"
	Light  Mode = "light"
	Dark   Mode = "dark"
)

// Text sizes that a person can choose, as factors for [New].
const (
	TextSmall   float32 = 0.9
	TextNormal  float32 = 1
	TextLarge   float32 = 1.15
	TextLargest float32 = 1.35
)

// Names of sizes in addition to Fyne's.
const (
	SizeSidebar fyne.ThemeSizeName = "flSidebar" // text of lists
	SizeSmall                      = theme.SizeNameCaptionText
	SizeCode    fyne.ThemeSizeName = "flCode"
	SizeTitle                      = theme.SizeNameSubHeadingText
)

// Spacing in Fyne's units, in a grid of four.
const (
	Gap    float32 = 4  // between an icon and its text
	Inside float32 = 8  // between the parts of a card
	Group  float32 = 16 // between groups
	Page   float32 = 24 // page margin
	Corner float32 = 6

	IconSmall  float32 = 16
	IconNormal float32 = 20

	// Narrow is the window width below which the sidebar becomes a drawer and margins shrink.
	Narrow float32 = 720
)

// Theme is Fairlead's theme. It is immutable: another mode or text size requires another Theme.
type Theme struct {
	fyne.Theme // for everything that Fairlead does not define, such as fonts
	mode       Mode
	scale      float32
}

// New creates a theme. scale enlarges text only; 0 means [TextNormal].
func New(mode Mode, scale float32) *Theme {
	if scale <= 0 {
		scale = TextNormal
	}
	return &Theme{theme.DefaultTheme(), mode, min(max(scale, 0.75), 2)}
}

// Color implements fyne.Theme.
func (t *Theme) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	switch t.mode {
	case Light:
		v = theme.VariantLight
	case Dark:
		v = theme.VariantDark
	}
	p, ok := colors[name]
	if rgb, is := strings.CutPrefix(string(name), rgbPrefix); is {
		return legible(rgb, t.Color(ColorFound, v), t.Color(ColorText, v))
	}
	if !ok {
		return t.Theme.Color(name, v)
	}
	rgb := p.light
	if v == theme.VariantDark {
		rgb = p.dark
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xff}
}

// Size implements fyne.Theme.
func (t *Theme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText:
		return 14 * t.scale
	case SizeSidebar, SizeCode:
		return 13 * t.scale
	case SizeSmall:
		return 12 * t.scale
	case theme.SizeNameHeadingText:
		return 20 * t.scale
	case SizeTitle:
		return 16 * t.scale
	case theme.SizeNameInlineIcon:
		return IconSmall * t.scale
	case theme.SizeNameInputRadius, theme.SizeNameButtonRadius, theme.SizeNameCardRadius, theme.SizeNamePopupRadius,
		theme.SizeNameMenuRadius, theme.SizeNameDialogRadius:
		return Corner
	case theme.SizeNameScrollBar:
		return 10
	case theme.SizeNameScrollBarSmall:
		return 4
	}
	return t.Theme.Size(name)
}

// Font implements fyne.Theme.
func (t *Theme) Font(s fyne.TextStyle) fyne.Resource {
	fonts.Loading(s)
	return t.Theme.Font(s)
}

// Icon implements fyne.Theme: Fyne's own widgets use our icons where we have one.
func (t *Theme) Icon(name fyne.ThemeIconName) fyne.Resource {
	if ours, ok := fyneIcons[name]; ok {
		return Icon(ours)
	}
	return t.Theme.Icon(name)
}

// Size resolves a size name in the running theme.
func Size(name fyne.ThemeSizeName) float32 { return current().Size(name) }

// current returns the running theme, or Fairlead's own in a test that sets none.
func current() *Theme {
	if t, ok := fyne.CurrentApp().Settings().Theme().(*Theme); ok {
		return t
	}
	return New(System, TextNormal)
}

// LineLength returns the width of about 76 letters of text: longer lines are hard to read.
func LineLength() float32 {
	const sample = "The quick brown fox jumps over the lazy dog, and then the dog sleeps again." // 75 letters
	return fyne.MeasureText(sample, Size(theme.SizeNameText), fyne.TextStyle{}).Width * 76 / float32(len(sample))
}
