package markdown

import (
	"net/url"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// View shows a text that may grow. Unchanged blocks keep their widgets, so streaming a text
// requires parsing of its last block only. Links call OnLink and do nothing else: pictures are
// never fetched; a remote one is shown as a link.
type View struct {
	widget.BaseWidget
	// OnLink is called with the http, https or mailto URL of a clicked link. Links with other
	// schemes are plain text.
	OnLink func(*url.URL)
	// OnCopy is called with the code of a block.
	OnCopy func(string)
	// Forward receives scroll events over wide blocks.
	Forward func(*fyne.ScrollEvent)
	// OnPress is called when the primary mouse button is pressed in a text: once, twice or three
	// times in quick succession.
	OnPress func(in selection.Passage, at, times int)
	// OnMenu is called for the secondary button.
	OnMenu func(at fyne.Position)

	source string
	blocks []Block
	box    *fyne.Container
}

// NewView creates an empty view.
func NewView() *View {
	m := &View{box: widgets.Col(style.Inside)}
	m.ExtendBaseWidget(m)
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
	case *CodeBlock:
		if b.Kind == BlockCode {
			v.Set(b)
			return true
		}
	case *fyne.Container:
		if b.Kind == BlockText { // in the structure created by show
			v.Objects[0].(*RichText).set(parse(b.Source))
			return true
		}
	}
	return false
}

func (m *View) show(b Block) fyne.CanvasObject {
	switch b.Kind {
	case BlockCode:
		c := NewCodeBlock()
		c.OnCopy = func(s string) {
			if m.OnCopy != nil {
				m.OnCopy(s)
			}
		}
		c.SetForward(func(e *fyne.ScrollEvent) {
			if m.Forward != nil {
				m.Forward(e)
			}
		})
		c.panel.View().OnPress = func(at, times int) {
			if m.OnPress != nil {
				m.OnPress(c.panel.View(), at, times)
			}
		}
		c.panel.View().OnMenu = m.menu
		c.Set(b)
		return c
	case BlockTable:
		p := widgets.NewScroller(newTable(b.Source, m.prose))
		p.Forward = func(e *fyne.ScrollEvent) {
			if m.Forward != nil {
				m.Forward(e)
			}
		}
		return p
	}
	return widgets.LimitLineLength(m.prose(parse(b.Source)))
}

// prose creates text with the callbacks of the whole view.
func (m *View) prose(paras []paragraph) *RichText {
	p := newRichText(paras)
	p.OnLink = func(u *url.URL) {
		if m.OnLink != nil {
			m.OnLink(u)
		}
	}
	p.OnPress = func(at, times int) {
		if m.OnPress != nil {
			m.OnPress(p, at, times)
		}
	}
	p.OnMenu = m.menu
	return p
}

func (m *View) menu(at fyne.Position) {
	if m.OnMenu != nil {
		m.OnMenu(at)
	}
}

// Passages returns its texts, from top to bottom.
func (m *View) Passages() []selection.Passage {
	var list []selection.Passage
	for _, o := range m.box.Objects {
		switch o := o.(type) {
		case *CodeBlock:
			list = append(list, o.panel.View())
		case *widgets.Scroller:
			for _, row := range o.Content.(*table).cells {
				for _, c := range row {
					list = append(list, c)
				}
			}
		case *fyne.Container:
			list = append(list, o.Objects[0].(*RichText))
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

// CreateRenderer implements fyne.Widget.
func (m *View) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(m.box) }
