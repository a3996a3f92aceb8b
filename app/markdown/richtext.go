package markdown

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/typeset"
)

// RichText shows paragraphs in one picture; see [transcript.View] for selecting across several.
type RichText struct {
	widget.BaseWidget
	selection.Mouse
	text  *selection.Text
	flow  flow
	hover *url.URL // the link under the mouse
}

// NewRichText creates an empty text.
func NewRichText() *RichText { return newRichText(nil) }

func newRichText(paras []paragraph) *RichText {
	p := &RichText{flow: flow{paragraphs: paras}}
	p.text, p.Mouse = selection.NewText(p, p.flow.texts), selection.NewMouse(p)
	p.ExtendBaseWidget(p)
	return p
}

func (p *RichText) set(paras []paragraph) {
	p.flow.set(paras, p.Size().Width)
	p.text.Changed()
}

// SetPlain shows plain text.
func (p *RichText) SetPlain(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) {
	p.set(plainParagraphs(text, color, size))
}

func plainParagraphs(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) []paragraph {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\t", "    ")
	return []paragraph{{runs: []typeset.Run{{Text: text, Style: typeset.Style{Size: style.Size(size) / style.Size("text")}}}, decorations: []decoration{{color: color}}}}
}

// laidOut returns the paragraphs with their lines at the present width.
func (p *RichText) laidOut() *flow {
	p.flow.layOut(p.Size().Width)
	return &p.flow
}

// Selectable implements [selection.Passage].
func (p *RichText) Selectable() *selection.Text { return p.text }

// AccessibilityLabel implements fyne.Accessible.
func (p *RichText) AccessibilityLabel() string { return p.text.AccessibleText() }

// AccessibilityRole implements fyne.Accessible.
func (p *RichText) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// Index implements [selection.Passage].
func (p *RichText) Index(at fyne.Position) int { return p.laidOut().index(at) }

// PositionOf implements [selection.Passage].
func (p *RichText) PositionOf(at int) fyne.Position { return p.laidOut().positionOf(at) }

// Slice returns a range of the text as it is copied: with bullets, numbers and line breaks.
func (p *RichText) Slice(from, to int) string { return p.flow.slice(from, to) }

// Tapped implements fyne.Tappable: it follows a link.
func (p *RichText) Tapped(e *fyne.PointEvent) {
	if u := p.flow.linkAt(e.Position); u != nil && p.OnLink != nil && p.text.From == p.text.To {
		p.OnLink(u)
	}
}

// MouseIn implements desktop.Hoverable.
func (p *RichText) MouseIn(e *desktop.MouseEvent) {
	if p.Events != nil && p.OnHover != nil {
		p.OnHover()
	}
	p.MouseMoved(e)
}

// MouseMoved implements desktop.Hoverable: the link under the mouse is underlined.
func (p *RichText) MouseMoved(e *desktop.MouseEvent) {
	if u := p.flow.linkAt(e.Position); u != p.hover {
		p.hover = u
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *RichText) MouseOut() {
	if p.hover != nil {
		p.hover = nil
		p.Refresh()
	}
}

// Cursor implements desktop.Cursorable.
func (p *RichText) Cursor() desktop.Cursor {
	if p.hover != nil {
		return desktop.PointerCursor
	}
	return p.Mouse.Cursor()
}
