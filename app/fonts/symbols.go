package fonts

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Fyne draws arrows and ⌘ with a small symbol font that has no space (fyne 2.8.0,
// theme/font/InterSymbols-Regular.ttf), and takes the space after such a character from the same
// font: "a → b" would become "a →� b". The font for code has the same characters and a space. Fyne
// cannot replace the symbol font, so its content is replaced, once and before anything is drawn.
func init() {
	symbols, ok := theme.DefaultSymbolFont().(*fyne.StaticResource)
	if code := theme.DefaultTextMonospaceFont(); ok && code != nil {
		symbols.StaticContent = code.Content()
	}
}
