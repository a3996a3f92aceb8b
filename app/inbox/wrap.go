package inbox

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// span is a section of a text in one colour.
type span struct {
	text      string
	color     fyne.ThemeColorName
	underline bool
}

// wrapText is text whose lines end between words. A word longer than a line is broken after a
// separator of paths, so that commands and folders stay readable.
type wrapText struct {
	widget.BaseWidget
	spans []span
	size  fyne.ThemeSizeName
	mono  bool
}

func newWrapText(size fyne.ThemeSizeName, mono bool, spans ...span) *wrapText {
	w := &wrapText{spans: spans, size: size, mono: mono}
	w.ExtendBaseWidget(w)
	return w
}

func (w *wrapText) style() fyne.TextStyle { return fyne.TextStyle{Monospace: w.mono} }

// measurer returns a function for the width of a text. Letters of a monospaced font are counted,
// because a command may have thousands of words.
func (w *wrapText) measurer() func(string) float32 {
	size, textStyle := style.Size(w.size), w.style()
	cell := float32(0)
	if w.mono {
		cell = widgets.MeasureText("MMMMMMMMMM", size, textStyle).Width / 10
	}
	return func(text string) float32 {
		if w.mono && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return cell * float32(len(text))
		}
		return widgets.MeasureText(text, size, textStyle).Width
	}
}

// AccessibilityLabel implements fyne.Accessible.
func (w *wrapText) AccessibilityLabel() string { return w.text() }

// AccessibilityRole implements fyne.Accessible.
func (*wrapText) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// setText replaces the text of the first span.
func (w *wrapText) setText(text string) {
	w.spans[0].text = text
	w.Refresh()
}

// text returns the whole text.
func (w *wrapText) text() string {
	var b strings.Builder
	for _, s := range w.spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// CreateRenderer implements fyne.Widget.
func (w *wrapText) CreateRenderer() fyne.WidgetRenderer { return &wrapRenderer{w: w} }

type wrapRenderer struct {
	w       *wrapText
	width   float32 // of the last layout
	measure func(string) float32
	lines   int
	pieces  []fyne.CanvasObject
}

// lineHeight is the distance of two lines.
func (r *wrapRenderer) lineHeight() float32 {
	return float32(int(style.Size(r.w.size)*1.45 + 0.5))
}

func (r *wrapRenderer) MinSize() fyne.Size {
	return fyne.NewSize(24, r.lineHeight()*float32(max(r.lines, 1)))
}

func (r *wrapRenderer) Layout(size fyne.Size) {
	if size.Width == r.width {
		return
	}
	r.width, r.measure = size.Width, r.w.measurer()
	ends := lineEnds(r.w.text(), size.Width, r.measure)
	r.lines, r.pieces = len(ends), r.pieces[:0]
	height, line, at, x := r.lineHeight(), 0, 0, float32(0)
	for _, s := range r.w.spans {
		for text := s.text; text != ""; {
			n := min(len(text), ends[line]-at)
			piece := strings.TrimRight(text[:n], "\n")
			text, at = text[n:], at+n
			if at == ends[line] {
				piece = strings.TrimRight(piece, " ")
			}
			if piece != "" {
				x += r.draw(piece, s, fyne.NewPos(x, height*float32(line)))
			}
			if at == ends[line] && line < len(ends)-1 {
				line, x = line+1, 0
			}
		}
	}
}

// draw adds a piece of a line, and returns its width.
func (r *wrapRenderer) draw(text string, s span, at fyne.Position) float32 {
	t := canvas.NewText(text, style.Color(s.color))
	t.TextSize, t.TextStyle = style.Size(r.w.size), r.w.style()
	t.TextStyle.Underline = s.underline
	size := fyne.NewSize(r.measure(text), t.MinSize().Height)
	t.Move(at.AddXY(0, float32(int((r.lineHeight()-size.Height)/2))))
	t.Resize(size)
	r.pieces = append(r.pieces, t)
	return size.Width
}

func (r *wrapRenderer) Refresh() {
	r.width = -1
	r.Layout(r.w.Size())
	canvas.Refresh(r.w)
}

func (r *wrapRenderer) Objects() []fyne.CanvasObject { return r.pieces }
func (r *wrapRenderer) Destroy()                     {}

// lineEnds returns the ends of the lines of a text, as indexes of bytes: after a line break, after
// a blank, and in a word that is longer than the room after / or \, else anywhere.
func lineEnds(text string, room float32, measure func(string) float32) (ends []int) {
	at, from := 0, 0 // at is the end of what is placed, from the begin of its line
	place := func(to int) bool {
		if measure(strings.TrimRight(text[from:to], " \n")) > room {
			return false
		}
		at = to
		return true
	}
	end := func() {
		if at > from {
			ends, from = append(ends, at), at
		}
	}
	for at < len(text) {
		word := at + wordLength(text[at:])
		if !place(word) {
			if measure(strings.TrimRight(text[at:word], " \n")) <= room {
				end()
				continue
			}
			piece := min(at+pieceLength(text[at:]), word)
			if !place(piece) {
				if end(); !place(piece) {
					_, n := utf8.DecodeRuneInString(text[at:])
					for at += n; at < piece; at += n {
						if _, n = utf8.DecodeRuneInString(text[at:]); measure(text[from:at+n]) > room {
							break
						}
					}
					end()
				}
			}
		}
		if at > 0 && text[at-1] == '\n' {
			end()
		}
	}
	return append(ends, len(text))
}

// wordLength returns the length of the first word with the blanks or the line break after it.
func wordLength(s string) int {
	i := strings.IndexAny(s, " \n")
	if i < 0 {
		return len(s)
	}
	for s[i] == ' ' {
		if i++; i == len(s) || s[i] != ' ' && s[i] != '\n' {
			return i
		}
	}
	return i + 1
}

// pieceLength returns the length of a word up to and with its first separators of paths.
func pieceLength(s string) int {
	i := strings.IndexAny(s, `/\`)
	if i < 0 {
		return len(s)
	}
	for i < len(s) && (s[i] == '/' || s[i] == '\\') {
		i++
	}
	return i
}
