package widgets

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
)

// Markdown shows a text that may grow. Blocks that did not change keep their widgets, so a text that streams in costs the
// parsing of its last block. Links call OnLink and nothing else: no picture is ever fetched, a remote one is shown as a link.
type Markdown struct {
	widget.BaseWidget
	// OnLink is called with an http, https or mailto address that was clicked. Links with other schemes are plain text.
	OnLink func(*url.URL)
	// OnCopy is called with the code of a block.
	OnCopy func(string)
	// Forward gets turns of the wheel over wide blocks.
	Forward func(*fyne.ScrollEvent)

	source string
	blocks []Block
	box    *fyne.Container
}

// NewMarkdown makes an empty view.
func NewMarkdown() *Markdown {
	m := &Markdown{box: Col(look.Inside)}
	m.ExtendBaseWidget(m)
	return m
}

// Source is the text as it was given.
func (m *Markdown) Source() string { return m.source }

// SetText shows text.
func (m *Markdown) SetText(text string) {
	if text == m.source && m.blocks != nil {
		return
	}
	m.source = text
	blocks := SplitMarkdown(text)
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

// reuse shows b in the widget of a block that was at its place before.
func (m *Markdown) reuse(o fyne.CanvasObject, b Block) bool {
	switch v := o.(type) {
	case *CodeBlock:
		if b.Kind == BlockCode {
			v.Set(b)
			return true
		}
	case *fyne.Container:
		if b.Kind == BlockText { // as show made it
			rich := v.Objects[0].(*fyne.Container).Objects[0].(*widget.RichText)
			rich.Segments = m.parse(b.Source)
			rich.Refresh()
			return true
		}
	}
	return false
}

func (m *Markdown) show(b Block) fyne.CanvasObject {
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
		c.Set(b)
		return c
	case BlockTable:
		p := NewPan(newTable(b.Source, m.parse))
		p.Forward = func(e *fyne.ScrollEvent) {
			if m.Forward != nil {
				m.Forward(e)
			}
		}
		return p
	}
	rich := widget.NewRichText(m.parse(b.Source)...)
	rich.Wrapping = fyne.TextWrapWord
	return Readable(Bleed(rich))
}

var (
	taskItem = regexp.MustCompile(`(?m)^(\s*(?:[-*+]|\d+[.)])\s+)\[([ xX])\]\s`)
	// escaped is a sign that stands for itself (CommonMark 2.4); Fyne's parser leaves the backslash in the text.
	escaped  = regexp.MustCompile(`\\([!-/:-@\[-\x60{-~])`)
	imageRef = regexp.MustCompile(`!\[([^\]]*)\]\(`)
)

// parse makes segments of Markdown. Task boxes become letters: Fyne's can be clicked, which would mean nothing here, and its
// parser panics when one is followed by anything but plain text (fyne 2.8.0, widget/markdown.go renderNode).
func (m *Markdown) parse(source string) (segments []widget.RichTextSegment) {
	defer func() {
		if recover() != nil {
			segments = []widget.RichTextSegment{&widget.TextSegment{Text: source, Style: widget.RichTextStyleParagraph}}
		}
	}()
	source = taskItem.ReplaceAllStringFunc(source, func(s string) string {
		f := taskItem.FindStringSubmatch(s)
		if f[2] == " " {
			return f[1] + "☐ "
		}
		return f[1] + "☑ "
	})
	source = imageRef.ReplaceAllStringFunc(source, func(s string) string {
		if s == "![](" {
			return "[image]("
		}
		return s[1:]
	})
	return m.safe(widget.NewRichTextFromMarkdown(source).Segments)
}

// safe takes out what would act by itself.
func (m *Markdown) safe(segments []widget.RichTextSegment) []widget.RichTextSegment {
	out := make([]widget.RichTextSegment, 0, len(segments))
	for _, s := range segments {
		switch s := s.(type) {
		case *widget.TextSegment:
			if !s.Style.TextStyle.Monospace { // which is code
				s.Text = escaped.ReplaceAllString(s.Text, "$1")
			}
			out = append(out, s)
		case *widget.HyperlinkSegment:
			s.Text = escaped.ReplaceAllString(s.Text, "$1")
			if !LinkAllowed(s.URL) {
				text := s.Text
				if s.URL != nil && s.URL.String() != text {
					text += " (" + s.URL.String() + ")"
				}
				out = append(out, &widget.TextSegment{Text: text, Style: widget.RichTextStyleInline})
				continue
			}
			target := s.URL
			s.OnTapped = func() {
				if m.OnLink != nil {
					m.OnLink(target)
				}
			}
			out = append(out, s)
		case *widget.ImageSegment:
			out = append(out, &widget.TextSegment{Text: "image: " + s.Source.String(), Style: widget.RichTextStyleParagraph})
		case *widget.ListSegment:
			s.Items = m.safe(s.Items)
			out = append(out, s)
		case *widget.ParagraphSegment:
			s.Texts = m.safe(s.Texts)
			out = append(out, s)
		default:
			out = append(out, s)
		}
	}
	return out
}

// LinkAllowed reports whether a link of a model's text may be opened.
func LinkAllowed(u *url.URL) bool {
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
func (m *Markdown) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(m.box) }
