// Package diff shows unified diffs.
package diff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/code"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
)

// signs are the signs of lines as they are shown: changes must be recognizable without colours.
var signs = map[byte]struct {
	text              string
	color, background fyne.ThemeColorName
}{
	'+': {"+ ", style.ColorGood, style.ColorAddedBg},
	'-': {"- ", style.ColorBad, style.ColorRemovedBg},
	' ': {"  ", "", ""},
}

// withSign puts the sign before the text of a line.
func withSign(sign byte, l code.Line) code.Line {
	s := signs[sign]
	l.Background, l.Spans = s.background, append([]code.Span{{Text: s.text, Color: s.color}}, l.Spans...)
	return l
}

func mutedLine(text string) code.Line {
	return code.Line{Spans: []code.Span{{Text: text, Color: style.ColorMuted}}}
}

// numbers are the numbers of the next lines before and after a change.
type numbers struct{ before, after int }

// hunkHead matches the first line of a hunk.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)\S* \+(\d+)`)

func numbersOf(head string) (n numbers) {
	if m := hunkHead.FindStringSubmatch(head); m != nil {
		n.before, _ = strconv.Atoi(m[1])
		n.after, _ = strconv.Atoi(m[2])
	}
	return n
}

// next returns the gutter of the next line: its number before the change and that after it.
func (n *numbers) next(sign byte) (before, after string) {
	before, after = fmt.Sprintf("%4d", n.before), fmt.Sprintf("%4d", n.after)
	blank := strings.Repeat(" ", 4)
	switch sign {
	case '-':
		n.before++
		return before, blank
	case '+':
		n.after++
		return blank, after
	}
	n.before++
	n.after++
	return before, after
}

// Lines returns the coloured lines of a unified diff, with line numbers and marked words. The two
// header lines of a file are left out, or become one line if the diff has several files.
func Lines(diff string) []code.Line {
	lines := code.PlainLines(diff)
	heads := 0
	for i := range lines {
		if isFileHeader(lines, i) {
			heads++
		}
	}
	var out []code.Line
	var body hunk
	flush := func() {
		body.markWords()
		out = append(out, body.unifiedLines()...)
		body = hunk{}
	}
	for i := 0; i < len(lines); i++ {
		text := lines[i].Text()
		switch {
		case isFileHeader(lines, i):
			flush()
			i++
			if name := fileName(lines[i].Text()[4:]); heads > 1 && name == "/dev/null" {
				out = append(out, mutedLine(fileName(text[4:])+", deleted"))
			} else if heads > 1 {
				out = append(out, mutedLine(name))
			}
		case strings.HasPrefix(text, "@@"):
			if len(body.lines) > 0 { // a further one in this file
				flush()
				out = append(out, mutedLine("⋯"))
			}
			body.numbers = numbersOf(text)
		case text != "" && signs[text[0]].text != "":
			body.add(text[0], code.Line{Spans: []code.Span{{Text: text[1:]}}})
		case strings.HasPrefix(text, `\`):
			body.add('\\', mutedLine(text))
		default:
			flush()
			out = append(out, lines[i])
		}
	}
	flush()
	return out
}

// hunk is consecutive lines of a change, with their signs.
type hunk struct {
	numbers numbers // of the first lines
	signs   []byte
	lines   []code.Line
}

func (h *hunk) add(sign byte, l code.Line) {
	h.signs, h.lines = append(h.signs, sign), append(h.lines, l)
}

// markWords marks the changed words in each group of removed lines followed by added ones.
func (h *hunk) markWords() {
	end := func(i int, sign byte) int {
		for i < len(h.signs) && h.signs[i] == sign {
			i++
		}
		return i
	}
	for i := 0; i < len(h.signs); i++ {
		if removed := end(i, '-'); removed > i {
			added := end(removed, '+')
			markLines(h.lines[i:removed], h.lines[removed:added])
			i = added - 1
		}
	}
}

// unifiedLines returns the lines one below the other.
func (h *hunk) unifiedLines() (out []code.Line) {
	n := h.numbers
	for i, l := range h.lines {
		if sign := h.signs[i]; sign != '\\' {
			before, after := n.next(sign)
			l = withSign(sign, l)
			l.Gutter = before + " " + after
		}
		out = append(out, l)
	}
	return out
}

// sideBySide returns the lines before and after, with empty counterparts.
func (h *hunk) sideBySide() (left, right []code.Line) {
	n := h.numbers
	pad := func() {
		rows := max(len(left), len(right))
		left = append(left, make([]code.Line, rows-len(left))...)
		right = append(right, make([]code.Line, rows-len(right))...)
	}
	for i, l := range h.lines {
		sign := h.signs[i]
		if sign == '\\' {
			continue
		}
		before, after := n.next(sign)
		l = withSign(sign, l)
		if sign == ' ' {
			pad()
		}
		if sign != '+' {
			l.Gutter = before
			left = append(left, l)
		}
		if sign != '-' {
			l.Gutter = after
			right = append(right, l)
		}
	}
	pad()
	return left, right
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
func NewHunkView(h question.Hunk, lang string, forward func(*fyne.ScrollEvent)) fyne.CanvasObject {
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

// hunkLines returns the lines of a unified view, and of both columns.
func hunkLines(h question.Hunk, lang string) (unified, left, right []code.Line) {
	before, after := highlight(h, '-', lang), highlight(h, '+', lang)
	body := hunk{numbers: numbersOf(h.Head)}
	for _, l := range h.Lines {
		switch l[0] {
		case '-':
			body.add('-', before[0])
			before = before[1:]
		case '+':
			body.add('+', after[0])
			after = after[1:]
		case ' ':
			body.add(' ', after[0])
			before, after = before[1:], after[1:]
		default:
			body.add('\\', mutedLine(l))
		}
	}
	body.markWords()
	left, right = body.sideBySide()
	return body.unifiedLines(), left, right
}

// highlight returns the highlighted lines of one side of a hunk: those with a sign, and the
// unchanged ones. Their number stays the same whatever the language's lexer returns.
func highlight(h question.Hunk, sign byte, lang string) []code.Line {
	var lines []string
	for _, l := range h.Lines {
		if l[0] == sign || l[0] == ' ' {
			text, _ := wording.Reveal(l[1:])
			lines = append(lines, text)
		}
	}
	out := code.Highlight(strings.Join(lines, "\n")+"\n", lang)
	return append(out, make([]code.Line, max(len(lines)-len(out), 0))...)[:len(lines)]
}
