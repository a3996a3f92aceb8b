package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readings returns other readings of a text with characters on which shells and parser disagree.
func readings(text string) []string {
	visible := strings.Map(func(r rune) rune {
		if r != '\r' && unusualRune(r) != "" {
			return -1
		}
		return r
	}, text)
	list := []string{
		strings.ReplaceAll(text, "\\\n", "\n"), strings.ReplaceAll(text, "\\\n", ""),
		strings.ReplaceAll(text, "\r", "\n"), visible, separateWords(text),
	}
	return slices.DeleteFunc(list, func(other string) bool { return other == text })
}

// separateWords inserts spaces between words and redirects where some shell splits a text and the
// parser does not: rm 12>x, 2<&-rm x, {fds[0]}>x rm x, time -o x rm x, and cat <<'X'# ; rm x.
func separateWords(text string) string {
	text = timeOption.ReplaceAllString(text, "command time$1")
	text = hereEnd.ReplaceAllString(text, `$1\#`)
	var b []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '<' && c != '>' {
			b = append(b, c)
			continue
		}
		if d := namedDescriptor.FindIndex(b[max(0, len(b)-maxDescriptor):]); d != nil {
			b = b[:len(b)-(d[1]-d[0])]
		} else if n := len(b); n > 1 && isDigits(string(b[n-2:])) {
			b = append(b, ' ')
		}
		b = append(b, c)
		if dash := closing.FindString(text[i+1 : min(len(text), i+maxDescriptor)]); dash != "" {
			b = append(b, dash...)
			if i += len(dash); i+1 < len(text) && strings.IndexByte(blanks+operators, text[i+1]) < 0 {
				b = append(b, ' ')
			}
		}
	}
	return string(b)
}

// maxDescriptor is the number of characters around a redirect that may be its descriptor.
const maxDescriptor = 80

const (
	blanks    = " \t\n"
	operators = ";&|<>()"
)

var (
	timeOption      = regexp.MustCompile(`\btime([ \t]+-)`)
	namedDescriptor = regexp.MustCompile(`\{\w+(\[[^\]]*\])?\}$`)
	closing         = regexp.MustCompile(`^&[ \t]*-`)
	hereEnd         = regexp.MustCompile(`(<<-?[ \t]*[^\s;&|<>()]*['"])#`)
)

// addGuesses adds the results of another reading of the text as guesses.
func (f *Facts) addGuesses(g Facts) {
	base := len(f.Commands)
	for _, c := range g.Commands {
		c.Guess = true
		if c.Parent >= 0 {
			c.Parent += base
		}
		f.Commands = append(f.Commands, c)
	}
	for _, r := range g.Redirects {
		r.Guess, r.Command = true, -1
		f.Redirects = append(f.Redirects, r)
	}
	for _, s := range g.Assigns {
		s.Guess, s.WordIndex = true, 0
		f.Assigns = append(f.Assigns, s)
	}
	f.Findings = append(f.Findings, g.Findings...)
}

// equal reports whether two readings have the same words.
func (f Facts) equal(g Facts) bool {
	sameWord := func(v, w Word) bool {
		// the caller sees the marks of the real shell
		v.Ambiguous, w.Ambiguous, v.Glob, w.Glob, v.value, w.value = false, false, false, false, "", ""
		return v == w
	}
	sameWords := func(c, d Command) bool { return slices.EqualFunc(c.Words, d.Words, sameWord) }
	sameFile := func(r, s Redirect) bool { return r.Write == s.Write && r.Path.Text == s.Path.Text }
	return len(f.Assigns) == len(g.Assigns) && len(f.Findings) == len(g.Findings) &&
		slices.EqualFunc(f.Commands, g.Commands, sameWords) && slices.EqualFunc(f.Redirects, g.Redirects, sameFile)
}

const (
	// bytes that are judged completely: an approval shows longer texts without their middle
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

// unusualRune returns the reason why a character must be reported, or "".
func unusualRune(r rune) string {
	switch {
	case r == '\n' || r == '\t':
		return ""
	case unicode.IsControl(r):
		return "a control character"
	case r < utf8.RuneSelf:
		return ""
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
