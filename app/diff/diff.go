// Package diff shows unified diffs.
package diff

import (
	"regexp"
	"strings"

	"fairlead/app/code"
	"fairlead/app/style"
)

// Lines returns the coloured lines of a unified diff. Added and removed lines keep their signs,
// so that they are recognizable without colours. The two header lines of a file are left out, or
// become one line if the diff has several files.
func Lines(diff string) []code.Line {
	lines := code.PlainLines(diff)
	heads := 0
	for i := range lines {
		if isFileHeader(lines, i) {
			heads++
		}
	}
	out := lines[:0]
	for i := 0; i < len(lines); i++ {
		if isFileHeader(lines, i) {
			if i++; heads > 1 {
				name := fileName(lines[i].Text()[4:])
				if name == "/dev/null" {
					name = fileName(lines[i-1].Text()[4:]) + ", deleted"
				}
				out = append(out, code.Line{Spans: []code.Span{{Text: name, Color: style.ColorMuted}}})
			}
			continue
		}
		out = append(out, formatLine(lines[i]))
	}
	return out
}

// isFileHeader reports whether a file's two header lines begin there: a removed line may look like
// the first of them.
func isFileHeader(lines []code.Line, i int) bool {
	at := func(i int, prefix string) bool { return i < len(lines) && strings.HasPrefix(lines[i].Text(), prefix) }
	return at(i, "--- ") && at(i+1, "+++ ") && at(i+2, "@@")
}

// trailingTime matches the time after a file name; its tab was replaced by spaces.
var trailingTime = regexp.MustCompile(`\s+\d{4}-\d\d-\d\d.*$`)

// fileName returns a file's name without the prefix and the time that some programs add.
func fileName(s string) string {
	s = trailingTime.ReplaceAllString(s, "")
	if strings.HasPrefix(s, "a/") || strings.HasPrefix(s, "b/") {
		s = s[2:]
	}
	return strings.TrimSpace(s)
}

func formatLine(l code.Line) code.Line {
	text := l.Text()
	switch {
	case text == "":
	case strings.HasPrefix(text, "@@"), strings.HasPrefix(text, `\`):
		l.Spans = []code.Span{{Text: text, Color: style.ColorMuted}}
	case text[0] == '+':
		l.Background = style.ColorAddedBg
		l.Spans = []code.Span{{Text: "+ ", Color: style.ColorGood}, {Text: text[1:], Color: ""}}
	case text[0] == '-':
		l.Background = style.ColorRemovedBg
		l.Spans = []code.Span{{Text: "− ", Color: style.ColorBad}, {Text: text[1:], Color: ""}}
	case text[0] == ' ':
		l.Spans = []code.Span{{Text: " " + text, Color: ""}}
	}
	return l
}

// NewPanel creates a panel that shows a unified diff, at most maxHeight high; 0 is unlimited.
func NewPanel(diff string, maxHeight float32) *code.Panel {
	p := code.NewPanel(maxHeight)
	p.SetLines(Lines(diff))
	return p
}
