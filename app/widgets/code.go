package widgets

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
)

// Span is a run of code in one colour. It holds no line break.
type Span struct {
	Text  string
	Color fyne.ThemeColorName // empty is the colour of text
}

// CodeLine is one line of code. Ground colours the whole line; empty is none.
type CodeLine struct {
	Spans  []Span
	Ground fyne.ThemeColorName
}

// PlainLines makes lines of one colour out of text: tabs become spaces, what a terminal would obey is taken out.
func PlainLines(text string) []CodeLine {
	text = strings.TrimSuffix(cleanOutput(text), "\n")
	if text == "" {
		return nil
	}
	split := strings.Split(text, "\n")
	lines := make([]CodeLine, len(split))
	for i, l := range split {
		lines[i] = CodeLine{Spans: []Span{{Text: l}}}
	}
	return lines
}

// Code draws monospaced lines without wrapping. It draws only the lines in its view, all of them unless [Code.SetView] was
// called; inside a [Pan] that happens by itself.
type Code struct {
	widget.BaseWidget
	lines       []CodeLine
	columns     int
	top, bottom float32 // the view
	viewed      bool
}

// NewCode makes an empty one.
func NewCode(lines []CodeLine) *Code {
	c := &Code{}
	c.ExtendBaseWidget(c)
	c.SetLines(lines)
	return c
}

// SetLines shows other lines. It keeps them; the caller must not change them any more.
func (c *Code) SetLines(lines []CodeLine) {
	c.lines = lines
	c.columns = 0
	for _, l := range lines {
		n := 0
		for _, s := range l.Spans {
			n += columns(s.Text)
		}
		c.columns = max(c.columns, n)
	}
	c.Refresh()
}

// Lines is how many lines there are.
func (c *Code) Lines() int { return len(c.lines) }

// SetView says which part, in heights from its top, is on the screen.
func (c *Code) SetView(top, bottom float32) {
	if c.viewed && c.top == top && c.bottom == bottom {
		return
	}
	c.top, c.bottom, c.viewed = top, bottom, true
	c.Refresh()
}

// columns is the width of text in letters of a monospaced font, those of East Asia and pictures counted twice.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
			r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000) {
			n++
		}
	}
	return n
}

func codeCell() fyne.Size {
	s := fyne.MeasureText("MMMMMMMMMM", look.Size(look.SizeCode), fyne.TextStyle{Monospace: true})
	return fyne.NewSize(s.Width/10, float32(int(look.Size(look.SizeCode)*1.45+0.5)))
}

// CreateRenderer implements fyne.Widget.
func (c *Code) CreateRenderer() fyne.WidgetRenderer {
	r := &codeRenderer{c: c}
	r.draw()
	return r
}

type codeRenderer struct {
	c       *Code
	texts   []*canvas.Text
	rects   []*canvas.Rectangle
	objects []fyne.CanvasObject
}

func (r *codeRenderer) MinSize() fyne.Size {
	cell := codeCell()
	return fyne.NewSize(cell.Width*float32(r.c.columns), cell.Height*float32(len(r.c.lines)))
}

func (r *codeRenderer) Layout(size fyne.Size) {
	for _, rect := range r.rects {
		rect.Resize(fyne.NewSize(size.Width, rect.Size().Height))
	}
}

// draw places the objects of the lines in view, using those of the last time again.
func (r *codeRenderer) draw() {
	cell := codeCell()
	size := look.Size(look.SizeCode)
	first, last := 0, len(r.c.lines)
	if r.c.viewed {
		first = min(max(int(r.c.top/cell.Height), 0), last)
		last = max(min(int(r.c.bottom/cell.Height)+1, last), first)
	}
	texts, rects := 0, 0
	width := max(r.c.Size().Width, r.MinSize().Width)
	for i := first; i < last; i++ {
		line := r.c.lines[i]
		y := cell.Height * float32(i)
		if line.Ground != "" {
			if rects == len(r.rects) {
				r.rects = append(r.rects, canvas.NewRectangle(nil))
			}
			rect := r.rects[rects]
			rects++
			rect.FillColor = look.Color(line.Ground)
			rect.Move(fyne.NewPos(0, y))
			rect.Resize(fyne.NewSize(width, cell.Height))
			rect.Refresh()
		}
		col := 0
		for _, s := range line.Spans {
			n := columns(s.Text)
			if strings.TrimSpace(s.Text) != "" {
				if texts == len(r.texts) {
					r.texts = append(r.texts, canvas.NewText("", nil))
				}
				t := r.texts[texts]
				texts++
				name := s.Color
				if name == "" {
					name = look.ColorText
				}
				t.Text, t.Color, t.TextSize, t.TextStyle.Monospace = s.Text, look.Color(name), size, true
				t.Resize(fyne.NewSize(cell.Width*float32(n), cell.Height))
				t.Move(fyne.NewPos(cell.Width*float32(col), y))
				t.Refresh()
			}
			col += n
		}
	}
	r.texts, r.rects = r.texts[:texts], r.rects[:rects]
	r.objects = r.objects[:0]
	for _, o := range r.rects {
		r.objects = append(r.objects, o)
	}
	for _, o := range r.texts {
		r.objects = append(r.objects, o)
	}
}

func (r *codeRenderer) Refresh()                     { r.draw() }
func (r *codeRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *codeRenderer) Destroy()                     {}

// cleanOutput makes what a program printed fit to be shown: escape sequences go, a line that was overwritten by carriage
// returns shows its last state, tabs become spaces, broken UTF-8 and other control characters become �.
func cleanOutput(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == utf8.RuneError }) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	b := make([]byte, 0, len(s))
	lineStart, col := 0, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			i += escapeLen(s[i:])
			continue
		case r == '\n':
			b = append(b, '\n')
			lineStart, col = len(b), 0
		case r == '\r':
			if rest := s[i+1:]; rest != "" && rest[0] != '\n' {
				b, col = b[:lineStart], 0
			}
		case r == '\t':
			pad := 4 - col%4
			b = append(b, "    "[:pad]...)
			col += pad
		case r == '\b':
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			b = utf8.AppendRune(b, utf8.RuneError)
			col++
		default:
			b = utf8.AppendRune(b, r)
			col++
		}
		i += n
	}
	return string(b)
}

// escapeLen is the length of the terminal escape sequence that s begins with.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // CSI: parameters, then a letter
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']': // OSC: up to BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
		return len(s)
	}
	return 2
}
