// Package format writes values as text on one line: names that others chose, counts, sizes, times, and
// failures of the network and of files.
package format

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text from a machine, a device or a channel user safe to display on one line, so that
// it cannot imitate anything else: white space becomes single spaces between words, and control
// sequences of terminals, control characters and bidirectional marks are removed. The result has at most
// limit characters, of which the last is an ellipsis if the text was cut; 0 means no limit.
func Line(s string, limit int) string {
	if strings.ContainsRune(s, '\x1b') {
		s = terminalSequence.ReplaceAllString(s, "")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if limit > 0 {
		return Clip(s, limit)
	}
	return s
}

// terminalSequence matches what sets the colours and the title of a terminal, or moves its cursor.
var terminalSequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))`)

// Clip shortens a text to at most n characters, of which the last is an ellipsis.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Head returns the beginning of a text, of at most n bytes and whole characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := n; i > max(0, n-utf8.UTFMax); i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// CutMiddle replaces the middle of a text that is longer than head and tail bytes by a mark.
func CutMiddle(s string, head, tail int, mark string) string {
	if len(s) <= head+tail {
		return s
	}
	end := s[len(s)-tail:]
	for i := 0; i < min(utf8.UTFMax, tail); i++ {
		if utf8.RuneStart(end[i]) {
			end = end[i:]
			break
		}
	}
	return Head(s, head) + mark + end
}

// FirstLine returns the first line of an answer that shows something, without marks of Markdown, as
// [Line] does.
func FirstLine(answer string, limit int) string {
	for line := range strings.Lines(answer) {
		if line = Line(strings.Trim(line, "#>*_`- \n"), limit); line != "" {
			return line
		}
	}
	return ""
}

// MaxTitle is the greatest length of a title, in characters.
const MaxTitle = 60

// Title makes a title for a list of the beginning of a text: one line of whole words, without the
// marks of Markdown and quotes around it.
func Title(s string) string {
	words := strings.Fields(strings.Trim(strings.ReplaceAll(Line(s, 0), "`", ""), "\"'“”„«»#>*_- "))
	title := ""
	for _, w := range words {
		if title != "" && utf8.RuneCountInString(title+" "+w) >= MaxTitle {
			return strings.TrimRight(title, ",;:.") + "…"
		}
		title = strings.TrimPrefix(title+" "+w, " ")
	}
	return Clip(strings.TrimRight(title, ",;:"), MaxTitle)
}

// Capital returns the text with its first letter in upper case, if its script has cases.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Sentence makes a sentence of an error's text: with a capital letter and a full stop.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "Something went wrong."
	}
	if end, _ := utf8.DecodeLastRuneInString(s); !strings.ContainsRune(".!?…。！？", end) {
		s += "."
	}
	return Capital(s)
}

// Fence puts a text between two lines that it does not contain, and that begin with fence.
func Fence(text, fence string) string {
	fence = Delimiter(text, fence)
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// Delimiter makes a delimiter of Markdown longer until a text does not contain it.
func Delimiter(text, mark string) string {
	for strings.Contains(text, mark) {
		mark += mark[:1]
	}
	return mark
}

// Plural returns a count with its noun: "1 step", "2 steps". many is the plural, if it has more
// than an s at the end: "2 entries".
func Plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case many == nil:
		many = []string{one + "s"}
	}
	return fmt.Sprintf("%d %s", n, many[0])
}

// Enumerate joins words to an enumeration: "a", "a and b", "a, b and c". Without words it is
// "nothing".
func Enumerate(words []string) string {
	switch n := len(words); n {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// Words formats the words of a key or of a pairing, which people compare on two screens.
func Words(words []string) string { return strings.Join(words, "-") }

// Dollars formats a cost.
func Dollars(v float64) string {
	if v > 0 && v < 0.01 {
		return "under $0.01"
	}
	return fmt.Sprintf("$%.2f", v)
}

// Size returns a number of bytes in decimal units: 812 B, 1.4 GB.
func Size(bytes int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	v, i := float64(bytes), 0
	for v >= 999.5 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 || v >= 9.95 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
