// Package markdown shows Markdown that may still be growing, as a model writes it.
//
// Goldmark parses it; the text is drawn here instead of by Fyne's RichText for three reasons. A
// selection must span several messages. A chat must scroll without dropping frames, which one
// picture per text allows and one widget per word does not. Right-to-left text must follow UAX 9,
// which Fyne does not support; package typeset lays it out.
package markdown

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/code"
	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// View shows a text that may grow. Unchanged blocks keep their widgets, so streaming a text
// requires parsing of its last block only. Links call OnLink and do nothing else: pictures are
// never fetched; a remote one is shown as a link.
type View struct {
	widgets.Composite
	*selection.Events // links have the scheme http, https or mailto; others are plain text

	source string
	blocks []Block
	box    *fyne.Container
}

// NewView creates an empty view.
func NewView() *View {
	m := &View{Events: &selection.Events{}, box: widgets.Col(style.Inside)}
	m.Compose(m, m.box)
	return m
}

// Source returns the unparsed text.
func (m *View) Source() string { return m.source }

// SetText shows text.
func (m *View) SetText(text string) {
	if text == m.source && m.blocks != nil {
		return
	}
	m.source = text
	blocks := Split(text)
	same := 0
	for same < len(blocks) && same < len(m.blocks) && blocks[same] == m.blocks[same] {
		same++
	}
	if same == len(blocks) && same == len(m.blocks) {
		return
	}
	objects := slices.Clone(m.box.Objects[:same])
	for i := same; i < len(blocks); i++ {
		if i < len(m.blocks) {
			if o := m.box.Objects[i]; m.reuse(o, blocks[i]) {
				objects = append(objects, o)
				continue
			}
		}
		objects = append(objects, m.show(blocks[i]))
	}
	m.blocks, m.box.Objects = blocks, objects
	if s := m.Size(); s.Width > 0 {
		m.box.Layout.Layout(m.box.Objects, s)
	}
}

// reuse shows b in the widget of the previous block at the same position.
func (m *View) reuse(o fyne.CanvasObject, b Block) bool {
	switch v := o.(type) {
	case *codeBlock:
		if b.Kind == BlockCode {
			v.set(b)
			return true
		}
	case *RichText:
		if b.Kind == BlockText {
			v.set(parse(b.Source))
			return true
		}
	}
	return false
}

func (m *View) show(b Block) fyne.CanvasObject {
	switch b.Kind {
	case BlockCode:
		c := newCodeBlock(m.Events)
		c.set(b)
		return c
	case BlockTable:
		p := widgets.NewScroller(newTable(b.Source, m.Events))
		p.Forward = m.Scroll
		return p
	}
	p := newRichText(parse(b.Source))
	p.Events = m.Events
	return p
}

// Passages returns its texts, from top to bottom.
func (m *View) Passages() []selection.Passage {
	var list []selection.Passage
	for _, o := range m.box.Objects {
		switch o := o.(type) {
		case *codeBlock:
			list = append(list, o.panel.View())
		case *widgets.Scroller:
			for _, row := range o.Content.(*table).cells {
				for _, c := range row {
					list = append(list, c)
				}
			}
		case *RichText:
			list = append(list, o)
		}
	}
	return list
}

// IsAllowedLink reports whether a link in a model's text may be opened.
func IsAllowedLink(u *url.URL) bool {
	if u == nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	}
	return false
}

// codeBlock is a fenced code block of Markdown: language, Copy button, highlighted code.
type codeBlock struct {
	widgets.Composite
	block Block
	lang  *widgets.Text
	copy  *widgets.Button
	panel *code.Panel
}

func newCodeBlock(events *selection.Events) *codeBlock {
	c := &codeBlock{lang: widgets.NewText("", style.ColorMuted, style.SizeSmall), panel: code.NewPanel(0)}
	c.panel.HideBackground()
	c.panel.View().Events = events
	c.copy = widgets.NewQuietButton("Copy", "copy", func() { widgets.CallWith(events.OnCopy, c.block.Source) })
	c.copy.Small, c.copy.Muted = true, true
	head := widgets.Inset(2, 4, 0, style.Inside+4, widgets.Row(style.Inside, 0, c.lang, c.copy))
	c.Compose(c, container.NewStack(widgets.NewBackground(style.ColorCode, style.ColorLine, style.Corner), widgets.Col(0, head, c.panel)))
	return c
}

// set shows a block. It highlights only complete code: half a program would be highlighted wrongly.
func (c *codeBlock) set(b Block) {
	if b == c.block {
		return
	}
	c.block = b
	c.lang.SetText(cmp.Or(b.Lang, "text"))
	if b.Open {
		c.panel.SetLines(code.PlainLines(b.Source))
	} else {
		c.panel.SetLines(code.Highlight(b.Source, b.Lang))
	}
	c.panel.Scroller.MaxHeight = 0
	if c.panel.Lines() > 60 { // at full height it would be slow to draw and long to scroll past
		c.panel.Scroller.MaxHeight = code.Cell().Height * 40
	}
}
