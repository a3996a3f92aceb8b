// Package diff shows unified diffs.
package diff

import (
	"regexp"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/code"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// signs are the signs of lines as they are shown: changes must be recognizable without colours.
var signs = map[byte]struct {
	text              string
	color, background fyne.ThemeColorName
}{
	'+': {"+ ", style.ColorGood, style.ColorAddedBg},
	'-': {"− ", style.ColorBad, style.ColorRemovedBg},
	' ': {"  ", "", ""},
}

// signed puts the sign before the text of a line.
func signed(sign byte, l code.Line) code.Line {
	s := signs[sign]
	return code.Line{Background: s.background, Spans: append([]code.Span{{Text: s.text, Color: s.color}}, l.Spans...)}
}

func muted(text string) code.Line {
	return code.Line{Spans: []code.Span{{Text: text, Color: style.ColorMuted}}}
}

// Lines returns the coloured lines of a unified diff. The two header lines of a file are left out,
// or become one line if the diff has several files.
func Lines(diff string) []code.Line {
	lines := code.PlainLines(diff)
	heads := 0
	for i := range lines {
		if isFileHeader(lines, i) {
			heads++
		}
	}
	var out []code.Line
	for i := 0; i < len(lines); i++ {
		text := lines[i].Text()
		switch {
		case isFileHeader(lines, i):
			i++
			if name := fileName(lines[i].Text()[4:]); heads > 1 && name == "/dev/null" {
				out = append(out, muted(fileName(text[4:])+", deleted"))
			} else if heads > 1 {
				out = append(out, muted(name))
			}
		case text != "" && signs[text[0]].text != "":
			out = append(out, signed(text[0], code.Line{Spans: []code.Span{{Text: text[1:]}}}))
		case strings.HasPrefix(text, "@@"), strings.HasPrefix(text, `\`):
			out = append(out, muted(text))
		default:
			out = append(out, lines[i])
		}
	}
	return out
}

// isFileHeader reports whether two header lines begin there; a removed line may look alike.
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

// NewPanel creates a panel that shows a unified diff in its full height.
func NewPanel(diff string) *code.Panel { return newPanel(Lines(diff), nil) }

// newPanel creates a panel that forwards scroll events that it does not use.
func newPanel(lines []code.Line, forward func(*fyne.ScrollEvent)) *code.Panel {
	p := code.NewPanel(0)
	p.SetLines(lines)
	p.SetForward(forward)
	return p
}

// sideBySide is the minimum width for showing before and after side by side.
const sideBySide float32 = 820

// NewHunkView shows one hunk with syntax highlighting: before and after side by side if there is
// room, otherwise as a unified diff. It forwards scroll events that it does not use.
func NewHunkView(h state.Hunk, lang string, forward func(*fyne.ScrollEvent)) fyne.CanvasObject {
	unified, before, after := hunkLines(h, lang)
	both := container.NewGridWithColumns(2, newPanel(before, forward), newPanel(after, forward))
	both.Hide()
	return container.New(&responsiveLayout{}, newPanel(unified, forward), both)
}

// responsiveLayout shows its first object in a narrow place and its second in a wide one.
type responsiveLayout struct{}

func (responsiveLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	if o[1].Visible() {
		return fyne.NewSize(0, o[1].MinSize().Height)
	}
	return fyne.NewSize(0, o[0].MinSize().Height)
}

func (responsiveLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	widgets.SetVisible(o[0], size.Width < sideBySide)
	widgets.SetVisible(o[1], size.Width >= sideBySide)
	for _, x := range o {
		x.Resize(size)
		x.Move(fyne.NewPos(0, 0))
	}
}

// hunkLines returns the lines of a unified view, and of both columns, with empty counterparts.
func hunkLines(h state.Hunk, lang string) (unified, left, right []code.Line) {
	before, after := highlight(h, '-', lang), highlight(h, '+', lang)
	pad := func() {
		n := max(len(left), len(right))
		left = append(left, make([]code.Line, n-len(left))...)
		right = append(right, make([]code.Line, n-len(right))...)
	}
	unified = []code.Line{muted(h.Head)}
	for _, l := range h.Lines {
		switch l[0] {
		case '-':
			left = append(left, signed('-', before[0]))
			unified, before = append(unified, left[len(left)-1]), before[1:]
		case '+':
			right = append(right, signed('+', after[0]))
			unified, after = append(unified, right[len(right)-1]), after[1:]
		case ' ':
			pad()
			left, right = append(left, signed(' ', before[0])), append(right, signed(' ', after[0]))
			unified, before, after = append(unified, right[len(right)-1]), before[1:], after[1:]
		default:
			unified = append(unified, muted(l))
		}
	}
	pad()
	return unified, left, right
}

// highlight returns the highlighted lines of one side of a hunk: those with a sign, and the
// unchanged ones. Their number stays the same whatever the language's lexer returns.
func highlight(h state.Hunk, sign byte, lang string) []code.Line {
	var lines []string
	for _, l := range h.Lines {
		if l[0] == sign || l[0] == ' ' {
			text, _ := state.Reveal(l[1:])
			lines = append(lines, text)
		}
	}
	out := code.Highlight(strings.Join(lines, "\n")+"\n", lang)
	return append(out, make([]code.Line, max(len(lines)-len(out), 0))...)[:len(lines)]
}
