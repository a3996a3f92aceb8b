package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Reveal makes deceptive characters visible: control, bidirectional, zero-width and combining ones,
// and unusual blanks, but not line breaks and tabs. changed reports whether there were any.
func Reveal(s string) (text string, changed bool) {
	return revealIf(s, isInvisible), strings.ContainsFunc(s, isInvisible)
}

// revealIf writes the characters that are hidden as ⟨U+202E⟩.
func revealIf(s string, hidden func(rune) bool) string {
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fillers are letters and marks without a visible shape.
var fillers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034f, Hi: 0x034f, Stride: 1},
	{Lo: 0x115f, Hi: 0x1160, Stride: 1},
	{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
	{Lo: 0x2800, Hi: 0x2800, Stride: 1},
	{Lo: 0x3164, Hi: 0x3164, Stride: 1},
	{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
}}

func isInvisible(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Co, fillers)
}

// VisibleName writes control characters, line breaks and direction marks of a file's name or path
// as ⟨U+202E⟩. Joiners that emoji and scripts need are retained.
func VisibleName(name string) string {
	return revealIf(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}

// ShortenPath leaves out folders in the middle of a path until it fits: /home/…/fairlead/logs. If
// its last name alone is too long, it returns that.
func ShortenPath(path string, fits func(string) bool) string {
	sep := "/"
	if !strings.Contains(path, sep) {
		sep = `\`
	}
	parts := strings.Split(path, sep)
	if len(parts) == 1 || fits(path) {
		return path
	}
	for i := 3; i < len(parts); i++ {
		if short := strings.Join(slices.Concat(parts[:2], []string{"…"}, parts[i:]), sep); fits(short) {
			return short
		}
	}
	return "…" + sep + parts[len(parts)-1]
}

// folders are those of absolute paths in a text.
var folders = regexp.MustCompile(`(^|[\s“"'(])(?:/|[A-Za-z]:\\)(?:[^\s/\\:]+[/\\])+`)

// ShortenPaths leaves out the folders of absolute paths in a text, so that what follows them is not
// cut: "…/logs: permission denied".
func ShortenPaths(text string) string { return folders.ReplaceAllString(text, "$1…/") }

// ShortenMiddle shortens a name to n characters, in its middle because of the extension.
func ShortenMiddle(name string, n int) string {
	r := []rune(name)
	if len(r) <= n {
		return name
	}
	tail := n / 3
	return strings.TrimRight(string(r[:n-tail-1]), " ") + "…" + strings.TrimLeft(string(r[len(r)-tail:]), " ")
}
