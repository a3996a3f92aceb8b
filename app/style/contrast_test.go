package style

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Backgrounds of text.
var (
	pages = []fyne.ThemeColorName{theme.ColorNameBackground, ColorSurface, ColorSidebar, theme.ColorNameInputBackground, theme.ColorNameMenuBackground, theme.ColorNameOverlayBackground}
	rows  = []fyne.ThemeColorName{ColorHover, ColorSelected}
	press = []fyne.ThemeColorName{theme.ColorNameButton, theme.ColorNamePressed}
)

// inCode are the colours of text in code, output and messages, where text is found and selected.
var inCode = []fyne.ThemeColorName{
	ColorText, ColorMuted, ColorAccent, ColorNeedsYou, ColorGood, ColorBad, ColorYellow, ColorMagenta, ColorCyan,
	SyntaxKeyword, SyntaxString, SyntaxNumber, SyntaxComment, SyntaxName, RGB("808080"), RGB("ff0000"), RGB("0000ff"), RGB("00ff00"),
}

// The colours of text with the backgrounds on which it is drawn. Disabled text is exempt (WCAG 2.2,
// 1.4.3): it is grey on purpose.
var textOn = []struct {
	colors  []fyne.ThemeColorName
	grounds []fyne.ThemeColorName
}{
	{
		[]fyne.ThemeColorName{ColorText, ColorMuted, ColorAccent, theme.ColorNameHyperlink, theme.ColorNamePlaceHolder},
		slices.Concat(pages, rows, []fyne.ThemeColorName{ColorCode}),
	},
	{
		[]fyne.ThemeColorName{ColorNeedsYou, ColorGood, ColorBad, theme.ColorNameError, theme.ColorNameSuccess, theme.ColorNameWarning},
		slices.Concat(pages, rows, []fyne.ThemeColorName{ColorCode, theme.ColorNameButton}),
	},
	{[]fyne.ThemeColorName{ColorText, ColorMuted, ColorBad}, press}, // of buttons, also under the mouse
	{
		[]fyne.ThemeColorName{ColorYellow, ColorMagenta, ColorCyan, SyntaxKeyword, SyntaxString, SyntaxNumber, SyntaxComment, SyntaxName},
		[]fyne.ThemeColorName{ColorCode, theme.ColorNameBackground, ColorSurface},
	},
	{[]fyne.ThemeColorName{ColorText, ColorMuted, ColorGood}, []fyne.ThemeColorName{ColorAddedBg}},
	{[]fyne.ThemeColorName{ColorText, ColorMuted, ColorBad}, []fyne.ThemeColorName{ColorRemovedBg}},
	{inCode, []fyne.ThemeColorName{ColorFound, theme.ColorNameSelection}},
	{[]fyne.ThemeColorName{ColorOnAccent}, []fyne.ThemeColorName{ColorAccent}},
	{[]fyne.ThemeColorName{ColorOnNeeds}, []fyne.ThemeColorName{ColorNeedsYou}},
	{[]fyne.ThemeColorName{theme.ColorNameForegroundOnError}, []fyne.ThemeColorName{theme.ColorNameError}},
	{[]fyne.ThemeColorName{theme.ColorNameForegroundOnSuccess}, []fyne.ThemeColorName{theme.ColorNameSuccess}},
	{[]fyne.ThemeColorName{theme.ColorNameForegroundOnWarning}, []fyne.ThemeColorName{theme.ColorNameWarning}},
}

func TestTextHasContrast(t *testing.T) {
	for _, pair := range textOn {
		hasContrast(t, 4.5, pair.colors, pair.grounds)
	}
}

func TestFocusRingsAndBoxesHaveContrast(t *testing.T) {
	hasContrast(t, 3, []fyne.ThemeColorName{ColorAccent}, slices.Concat(pages, rows, press, []fyne.ThemeColorName{ColorCode}))
	hasContrast(t, 3, []fyne.ThemeColorName{ColorText}, pages)                                 // around a primary button
	hasContrast(t, 3, []fyne.ThemeColorName{ColorNeedsYou}, []fyne.ThemeColorName{ColorFound}) // around the current search result
	// otherwise an unchecked box is invisible
	hasContrast(t, 3, []fyne.ThemeColorName{theme.ColorNameInputBorder}, []fyne.ThemeColorName{theme.ColorNameBackground, ColorSurface})
}

// hasContrast checks each colour on each ground, in light and dark.
func hasContrast(t *testing.T, want float64, colors, grounds []fyne.ThemeColorName) {
	t.Helper()
	for name, v := range variants {
		for _, c := range colors {
			for _, ground := range grounds {
				if got := contrast(rgb(t, c, v), rgb(t, ground, v)); got < want {
					t.Errorf("%s: %s on %s has %.2f:1, want %.1f:1", name, c, ground, got, want)
				}
			}
		}
	}
}
