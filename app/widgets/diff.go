package widgets

import (
	"regexp"
	"strings"

	"fairlead/app/style"
)

// DiffLines returns the coloured lines of a unified diff. Added and removed lines keep their signs,
// so that they are recognizable without colours. The two header lines of a file are left out, or
// become one line if the diff has several files.
func DiffLines(diff string) []CodeLine {
	lines := PlainLines(diff)
	heads := 0
	for i := range lines {
		if diffHead(lines, i) {
			heads++
		}
	}
	out := lines[:0]
	for i := 0; i < len(lines); i++ {
		if diffHead(lines, i) {
			if i++; heads > 1 {
				name := diffName(lines[i].text()[4:])
				if name == "/dev/null" {
					name = diffName(lines[i-1].text()[4:]) + ", deleted"
				}
				out = append(out, CodeLine{Spans: []Span{{name, style.ColorMuted}}})
			}
			continue
		}
		out = append(out, diffLine(lines[i]))
	}
	return out
}

// diffHead reports whether a file's two header lines begin there: a removed line may look like the
// first of them.
func diffHead(lines []CodeLine, i int) bool {
	at := func(i int, prefix string) bool { return i < len(lines) && strings.HasPrefix(lines[i].text(), prefix) }
	return at(i, "--- ") && at(i+1, "+++ ") && at(i+2, "@@")
}

// diffTime matches the time after a file name; its tab was replaced by spaces.
var diffTime = regexp.MustCompile(`\s+\d{4}-\d\d-\d\d.*$`)

// diffName returns a file's name without the prefix and the time that some programs add.
func diffName(s string) string {
	s = diffTime.ReplaceAllString(s, "")
	if strings.HasPrefix(s, "a/") || strings.HasPrefix(s, "b/") {
		s = s[2:]
	}
	return strings.TrimSpace(s)
}

func diffLine(l CodeLine) CodeLine {
	text := l.text()
	switch {
	case text == "":
	case strings.HasPrefix(text, "@@"), strings.HasPrefix(text, `\`):
		l.Spans = []Span{{text, style.ColorMuted}}
	case text[0] == '+':
		l.Ground = style.ColorAddedBg
		l.Spans = []Span{{"+ ", style.ColorGood}, {text[1:], ""}}
	case text[0] == '-':
		l.Ground = style.ColorRemovedBg
		l.Spans = []Span{{"− ", style.ColorBad}, {text[1:], ""}}
	case text[0] == ' ':
		l.Spans = []Span{{" " + text, ""}}
	}
	return l
}

// NewDiffView creates a panel that shows a unified diff, at most maxHeight high; 0 is unlimited.
func NewDiffView(diff string, maxHeight float32) *CodePanel {
	p := NewCodePanel(maxHeight)
	p.SetLines(DiffLines(diff))
	return p
}
