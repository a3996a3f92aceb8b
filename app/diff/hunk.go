package diff

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/code"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// sideBySide is the minimum width for showing before and after side by side.
const sideBySide float32 = 820

// NewHunkView shows one hunk with syntax highlighting: before and after side by side if there is
// room, otherwise as a unified diff. It forwards scroll events that it does not use.
func NewHunkView(h state.Hunk, lang string, forward func(*fyne.ScrollEvent)) fyne.CanvasObject {
	one := code.NewPanel(0)
	one.SetLines(unifiedLines(h, lang))
	left, right := columns(h, lang)
	before, after := code.NewPanel(0), code.NewPanel(0)
	for _, p := range []*code.Panel{one, before, after} {
		p.SetForward(forward)
	}
	before.SetLines(left)
	after.SetLines(right)
	both := container.NewGridWithColumns(2, before, after)
	both.Hide()
	return container.New(&responsiveLayout{}, one, both)
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

// highlightBoth returns a hunk's highlighted lines before and after the change, which unified
// merges.
func highlightBoth(h state.Hunk, lang string) (before, after []code.Line) {
	var was, now []string
	for _, l := range h.Lines {
		text, _ := state.Reveal(l[1:])
		switch l[0] {
		case '-':
			was = append(was, text)
		case '+':
			now = append(now, text)
		case ' ':
			was, now = append(was, text), append(now, text)
		}
	}
	return highlight(was, lang), highlight(now, lang)
}

// highlight highlights lines. The number of lines stays the same whatever the language's lexer
// returns.
func highlight(lines []string, lang string) []code.Line {
	if len(lines) == 0 {
		return nil
	}
	out := code.Highlight(strings.Join(lines, "\n")+"\n", lang)
	for len(out) < len(lines) {
		out = append(out, code.Line{})
	}
	return out[:len(lines)]
}

// unifiedLines returns the lines of a unified view, with their signs: changes must be recognizable
// without colours.
func unifiedLines(h state.Hunk, lang string) []code.Line {
	before, after := highlightBoth(h, lang)
	out := []code.Line{{Spans: []code.Span{{Text: h.Head, Color: style.ColorMuted}}}}
	b, a := 0, 0
	for _, l := range h.Lines {
		switch l[0] {
		case '-':
			out = append(out, signedLine("− ", style.ColorBad, style.ColorRemovedBg, before[b]))
			b++
		case '+':
			out = append(out, signedLine("+ ", style.ColorGood, style.ColorAddedBg, after[a]))
			a++
		case ' ':
			out = append(out, signedLine("  ", "", "", after[a]))
			a, b = a+1, b+1
		default:
			out = append(out, code.Line{Spans: []code.Span{{Text: l, Color: style.ColorMuted}}})
		}
	}
	return out
}

func signedLine(sign string, color, ground fyne.ThemeColorName, l code.Line) code.Line {
	return code.Line{Background: ground, Spans: append([]code.Span{{Text: sign, Color: color}}, l.Spans...)}
}

// columns returns the lines of both columns; a line without a counterpart is beside an empty
// line.
func columns(h state.Hunk, lang string) (left, right []code.Line) {
	before, after := highlightBoth(h, lang)
	b, a := 0, 0
	level := func() {
		for len(left) < len(right) {
			left = append(left, code.Line{})
		}
		for len(right) < len(left) {
			right = append(right, code.Line{})
		}
	}
	for _, l := range h.Lines {
		switch l[0] {
		case '-':
			left = append(left, signedLine("− ", style.ColorBad, style.ColorRemovedBg, before[b]))
			b++
		case '+':
			right = append(right, signedLine("+ ", style.ColorGood, style.ColorAddedBg, after[a]))
			a++
		case ' ':
			level()
			left, right = append(left, signedLine("  ", "", "", before[b])), append(right, signedLine("  ", "", "", after[a]))
			a, b = a+1, b+1
		}
	}
	level()
	return left, right
}
