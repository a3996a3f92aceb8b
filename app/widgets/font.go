package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// singleFont returns a single font that has all characters of a text in a style, or nil to let Fyne
// choose. Fyne's choice loads for each style also the fonts for emoji, symbols and the system's
// language: 8 MB of memory, often for a few bold words or the width of a letter.
func singleFont(text string, style fyne.TextStyle) fyne.Resource {
	for _, r := range text {
		if !isPlainLetter(r) {
			return nil
		}
	}
	switch style {
	case fyne.TextStyle{Bold: true}:
		return theme.DefaultTextBoldFont()
	case fyne.TextStyle{Monospace: true}:
		return theme.DefaultTextMonospaceFont()
	}
	return nil // the regular fonts are loaded anyway
}

// isPlainLetter reports whether all of Fyne's text fonts have a character: Latin, Cyrillic, and
// their punctuation.
func isPlainLetter(r rune) bool {
	switch {
	case r >= ' ' && r <= '~', r >= 0xa0 && r < 0x180, r >= 0x400 && r < 0x460:
		return true
	}
	switch r {
	case '–', '—', '‘', '’', '“', '”', '„', '…', '•':
		return true
	}
	return false
}

// MeasureText returns the size of a line of text.
func MeasureText(text string, size float32, style fyne.TextStyle) fyne.Size {
	s, _ := fyne.CurrentApp().Driver().RenderedTextSize(text, size, style, singleFont(text, style))
	return s
}
