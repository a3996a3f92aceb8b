package selection

import (
	"unicode"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
)

// wordAround returns the word that contains a position or ends there.
func wordAround(text []rune, at int) (from, to int) {
	at = min(max(at, 0), len(text))
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}
	if len(text) == 0 {
		return 0, 0
	}
	if at == len(text) || kind(text[at]) != 1 && at > 0 && kind(text[at-1]) == 1 {
		at--
	}
	k := kind(text[at])
	from, to = at, at+1
	if k == 3 {
		return from, to
	}
	for from > 0 && kind(text[from-1]) == k {
		from--
	}
	for to < len(text) && kind(text[to]) == k {
		to++
	}
	return from, to
}

// HitColor returns the background of a search result, which differs for the current one.
func HitColor(current bool) fyne.ThemeColorName {
	if current {
		return style.ColorFoundNow
	}
	return style.ColorFound
}
