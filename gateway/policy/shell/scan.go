package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText is the longest text, in bytes, that is judged completely: an approval shows longer
	// ones without their middle anyway.
	maxText = 32 << 10
	// maxRead is the size up to which a longer text is still analyzed, to deny commands in it.
	maxRead = 4 * maxText
	// maxNesting is the number of brackets that a text may contain; the parser uses stack for each.
	maxNesting = 3000
)

// padding is the number of consecutive blanks that looks like an attempt to move text out of sight.
const padding = 60

// hiddenText returns findings about characters that make the displayed text, or the parser's
// reading, differ from the text that the shell runs.
func hiddenText(text string) []Finding {
	var list []Finding
	add := func(format string, args ...any) { list = append(list, Finding{Reason: fmt.Sprintf(format, args...)}) }
	if len(text) > maxText {
		add("is too long to be checked")
	}
	if !utf8.ValidString(text) {
		add("is not valid UTF-8")
	}
	if strings.Contains(text, "\\\n") || strings.HasSuffix(text, "\\") {
		add("ends a line with a backslash, which shells read differently")
	}
	blanks, seen := 0, map[rune]bool{}
	for _, r := range text {
		if r == ' ' || r == '\n' || r == '\t' {
			if blanks++; blanks == padding {
				add("contains a long run of spaces that may hide text")
			}
			continue
		}
		blanks = 0
		if why := unusualRune(r); why != "" && !seen[r] {
			seen[r] = true
			add("contains %s (U+%04X)", why, r)
		}
	}
	return list
}

// isNestedTooDeep reports whether a text contains too many brackets to be parsed.
func isNestedTooDeep(text string) bool {
	n := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '(' || c == '{' || c == '`' {
			n++
		}
	}
	return n > maxNesting
}

// unusualRune returns the reason why a character must be reported; "" for ordinary ones. Tab,
// newline and space are ordinary.
func unusualRune(r rune) string {
	switch {
	case r < utf8.RuneSelf:
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return "a control character"
		}
		return ""
	case unicode.Is(unicode.Cc, r):
		return "a control character"
	case unicode.Is(unicode.Cf, r), r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r == 0x034f, r == 0x2800,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x17b4, r == 0x17b5:
		return "an invisible character"
	case unicode.Is(unicode.Z, r):
		return "an unusual space character"
	case unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), r == utf8.RuneError:
		return "an undefined character"
	case strings.ContainsRune("‘’‚‛“”„‟′″`´＇＂；｜＆＄（）＜＞‐‑‒–−﹣－／＼∕⁄∖", r):
		return "a character that looks like another one"
	case !unicode.IsGraphic(r):
		return "an undefined character"
	}
	return ""
}
