package style

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Fyne takes arrows and ⌘ from a small font of symbols that has no space (fyne 2.8.0, theme/font/InterSymbols-Regular.ttf), and draws the
// space after one from it too: every "a → b" of an answer would be "a →� b". The font for code has the same signs and a space. The toolkit
// has no way to choose the font of symbols, so its content is changed, once and before anything is drawn.
func init() {
	symbols, ok := theme.DefaultSymbolFont().(*fyne.StaticResource)
	if code := theme.DefaultTextMonospaceFont(); ok && code != nil {
		symbols.StaticContent = code.Content()
	}
}
