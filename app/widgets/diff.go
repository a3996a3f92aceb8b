package widgets

import (
	"regexp"
	"strings"

	"fairlead/app/style"
)

// DiffLines makes coloured lines of a unified diff. Added and removed lines keep their signs, so colour is never all there is. The two
// lines that name the file are left out, or are one line where the diff is about several files.
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

// diffHead reports whether a file's two lines begin there: a removed line may begin like the first of them.
func diffHead(lines []CodeLine, i int) bool {
	at := func(i int, prefix string) bool { return i < len(lines) && strings.HasPrefix(lines[i].text(), prefix) }
	return at(i, "--- ") && at(i+1, "+++ ") && at(i+2, "@@")
}

// diffTime is the time behind a name; its tab has become spaces.
var diffTime = regexp.MustCompile(`\s+\d{4}-\d\d-\d\d.*$`)

// diffName is a file's name without the letter and the time that some programs add.
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

// NewDiffView makes a panel that shows a unified diff, at most maxHeight high; 0 is as high as it is.
func NewDiffView(diff string, maxHeight float32) *CodePanel {
	p := NewCodePanel(maxHeight)
	p.SetLines(DiffLines(diff))
	return p
}
