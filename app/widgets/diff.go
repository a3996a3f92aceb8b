package widgets

import (
	"strings"

	"fairlead/app/look"
)

// DiffLines makes coloured lines of a unified diff. Added and removed lines keep their signs, so colour is never all there is.
func DiffLines(diff string) []CodeLine {
	lines := PlainLines(diff)
	for i := range lines {
		l := &lines[i]
		if len(l.Spans) == 0 {
			continue
		}
		text := l.Spans[0].Text
		switch {
		case strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "--- "):
			l.Spans[0].Color = look.ColorMuted
		case strings.HasPrefix(text, "@@"):
			l.Spans[0].Color = look.ColorMuted
		case strings.HasPrefix(text, "+"):
			l.Ground = look.ColorAddedBg
			l.Spans = []Span{{"+ ", look.ColorGood}, {text[1:], ""}}
		case strings.HasPrefix(text, "-"):
			l.Ground = look.ColorRemovedBg
			l.Spans = []Span{{"− ", look.ColorBad}, {text[1:], ""}}
		case strings.HasPrefix(text, `\`):
			l.Spans[0].Color = look.ColorMuted
		case strings.HasPrefix(text, " "):
			l.Spans[0].Text = " " + text
		}
	}
	return lines
}

// NewDiffView makes a panel that shows a unified diff, at most maxHeight high; 0 is as high as it is.
func NewDiffView(diff string, maxHeight float32) *CodePanel {
	p := NewCodePanel(maxHeight)
	p.SetLines(DiffLines(diff))
	return p
}
