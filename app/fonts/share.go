package fonts

import (
	"io"
	"log"
	"sync"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/shaping"
)

// Fyne parses all fonts, with the emoji of 4 MB, again for each text style and again after each
// change of the theme, and its shaper keeps the last 32 (fyne 2.8.0, internal/painter/font.go):
// 70 MB after some use. Fyne has no setting for that, so these are its own variables and functions.

//go:linkname cached fyne.io/fyne/v2/internal/painter.CachedFontFace
func cached(fyne.TextStyle, fyne.Resource, fyne.CanvasObject) *struct{ Fonts shaping.Fontmap }

//go:linkname systemFont fyne.io/fyne/v2/internal/painter.lookupRuneFont
func systemFont(r rune, family string, aspect font.Aspect) *font.Face

//go:linkname languageFont fyne.io/fyne/v2/internal/painter.lookupLangFont
func languageFont(family string, aspect font.Aspect) *font.Face

//go:linkname shaper fyne.io/fyne/v2/internal/painter.shaper
var shaper *shaping.HarfbuzzShaper

// Fyne looks for a font of the system's language whenever it loads fonts, and keeps it.
//
//go:linkname systemFonts fyne.io/fyne/v2/internal/painter.fm
var systemFonts *fontscan.FontMap

// freeSystemFonts frees the fonts of the system that no [fontMap] has used. The list of all fonts
// is in memory and not read again.
func freeSystemFonts() {
	if systemFonts == nil { // there are none, or they could not be read
		return
	}
	unused := fontscan.NewFontMap(log.New(io.Discard, "", 0))
	if unused.UseSystemFonts("") == nil {
		systemFonts = unused
	}
}

// later runs a function after the current work of the GUI thread. It is nil until [Share].
var later func(func())

// Share lets all text styles and themes share the parsed fonts from now on. run must run a function
// on the GUI thread, after what runs there now. Call Share once, on the GUI thread, after the theme
// was set and before anything is drawn.
func Share(run func(func())) {
	for _, s := range []fyne.TextStyle{{}, {Bold: true}, {Monospace: true}} {
		share(s)
	}
	freeSystemFonts()
	later = run
}

// Loading must be called by the theme when Fyne asks it for a font, which it does when it begins to
// load those of a text style.
func Loading(s fyne.TextStyle) {
	if later != nil && !s.Symbol {
		later(func() { share(s); freeSystemFonts() })
	}
}

// share replaces the fonts that Fyne has loaded for a text style.
func share(s fyne.TextStyle) {
	loaded := cached(s, nil, nil)
	if _, ok := loaded.Fonts.(*fontMap); ok {
		return
	}
	loaded.Fonts = newFontMap(s)
	*shaper = shaping.HarfbuzzShaper{} // it refers to the replaced fonts
}

// fontMap finds the font for a character, in the order in which Fyne searches. A character without
// one is a box of the first font. Only the GUI thread uses it.
type fontMap struct {
	faces  []func() *font.Face // each is loaded when the ones before it lack a character
	family string
}

func newFontMap(s fyne.TextStyle) *fontMap {
	family, aspect := fontscan.SansSerif, font.Aspect{Style: font.StyleNormal}
	if s.Monospace {
		family = fontscan.Monospace
	}
	if s.Italic {
		aspect.Style = font.StyleItalic
	}
	if s.Bold {
		aspect.Weight = font.WeightBold
	}
	m := &fontMap{family: family}
	// The font for code has the symbols: see symbols.go.
	for _, r := range []fyne.Resource{theme.DefaultTheme().Font(s), theme.DefaultEmojiFont(), theme.DefaultTextMonospaceFont()} {
		m.faces = append(m.faces, sync.OnceValue(func() *font.Face { return face(r) }))
	}
	m.faces = append(m.faces, sync.OnceValue(func() *font.Face { return languageFont(family, aspect) }))
	return m
}

// ResolveFace implements shaping.Fontmap.
func (m *fontMap) ResolveFace(r rune) *font.Face {
	for _, load := range m.faces {
		if f := load(); f != nil {
			if _, ok := f.NominalGlyph(r); ok {
				return f
			}
		}
	}
	if f := systemFont(r, m.family, font.Aspect{}); f != nil {
		if _, ok := f.NominalGlyph(r); ok {
			return f
		}
	}
	return m.faces[0]() // draws a box; the system's answer is any of its fonts
}
