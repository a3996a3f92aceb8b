package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// fontOf is the font that alone draws all of a text in a style, or nil for the toolkit's own choice. That reads for each style the fonts of pictures, of
// signs and of the system's language, too: 8 MB that are kept, mostly for a few words in bold and the width of a letter of code.
func fontOf(text string, style fyne.TextStyle) fyne.Resource {
	for _, r := range text {
		if !plainLetter(r) {
			return nil
		}
	}
	switch style {
	case fyne.TextStyle{Bold: true}:
		return theme.DefaultTextBoldFont()
	case fyne.TextStyle{Monospace: true}:
		return theme.DefaultTextMonospaceFont()
	}
	return nil // whatever is regular is read anyway
}

// plainLetter reports whether every one of the toolkit's fonts has a letter: Latin, Cyrillic, and the punctuation of both.
func plainLetter(r rune) bool {
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

// measure is how much room a line of text takes.
func measure(text string, size float32, style fyne.TextStyle) fyne.Size {
	s, _ := fyne.CurrentApp().Driver().RenderedTextSize(text, size, style, fontOf(text, style))
	return s
}
