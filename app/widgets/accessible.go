package widgets

import (
	"cmp"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// This file has the names and roles of the widgets for reading aids; see [fyne.Accessible]. The name
// is the text that a widget shows. Only icons and fields, which show none, have a name of their own.

// AccessibleText returns the texts of an object and of the visible objects in it, in reading order.
func AccessibleText(o fyne.CanvasObject) string {
	if o == nil || !o.Visible() {
		return ""
	}
	switch o := o.(type) {
	case *fyne.Container:
		var texts []string
		for _, c := range o.Objects {
			texts = append(texts, AccessibleText(c))
		}
		return JoinTexts(texts...)
	case *container.Scroll:
		return AccessibleText(o.Content)
	case fyne.Accessible:
		return o.AccessibilityLabel()
	}
	return ""
}

// JoinTexts joins texts for reading aids; it leaves out empty ones.
func JoinTexts(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if text != "" && b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	return b.String()
}

// AccessibilityRole implements fyne.Accessible.
func (*pressable) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityLabel implements fyne.Accessible.
func (b *Button) AccessibilityLabel() string {
	return JoinTexts(Choose(b.Name == b.Text, "", b.Name), b.Text)
}

// AccessibilityLabel implements fyne.Accessible.
func (p *Clickable) AccessibilityLabel() string { return cmp.Or(p.Name, AccessibleText(p.box)) }

// AccessibilityLabel implements fyne.Accessible.
func (s *Select) AccessibilityLabel() string {
	return JoinTexts(s.Name, cmp.Or(s.Selected, s.PlaceHolder))
}

// AccessibilityLabel implements fyne.Accessible: the name and the text, unless it is secret.
func (e *Entry) AccessibilityLabel() string {
	return JoinTexts(cmp.Or(e.Name, e.PlaceHolder), Choose(e.Password, "", e.Text))
}

// AccessibilityRole implements fyne.Accessible.
func (*Entry) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// AccessibilityLabel implements fyne.Accessible.
func (c *CheckBox) AccessibilityLabel() string {
	return JoinTexts(cmp.Or(c.Text, c.Name), Choose(c.Checked, "checked", "not checked"))
}

// AccessibilityRole implements fyne.Accessible.
func (*CheckBox) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityLabel implements fyne.Accessible.
func (c *Composite) AccessibilityLabel() string { return AccessibleText(c.content) }

// AccessibilityRole implements fyne.Accessible. Reading aids do not look into a widget, so that it
// is a text to them, not a container.
func (*Composite) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// AccessibilityRole implements fyne.Accessible.
func (*SidebarRow) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityRole implements fyne.Accessible.
func (*TapArea) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityRole implements fyne.Accessible.
func (*listRow) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityRole implements fyne.Accessible.
func (*rowLine) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityRole implements fyne.Accessible.
func (*menuRow) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

// AccessibilityLabel implements fyne.Accessible.
func (r *menuRow) AccessibilityLabel() string {
	return JoinTexts(r.item.Label, Choose(r.item.Checked, "checked", ""), KeyName(r.item.Shortcut))
}

// AccessibilityLabel implements fyne.Accessible: the highlighted line of the menu.
func (m *popupMenu) AccessibilityLabel() string {
	if l := m.last(); l.active >= 0 {
		return JoinTexts("Menu", l.rows[l.active].AccessibilityLabel())
	}
	return "Menu"
}

// ListLabel is the name of a list with a number of rows and the text of its current one.
func ListLabel(rows int, current string) string {
	return JoinTexts(fmt.Sprintf("List of %d", rows), current)
}

// AccessibilityLabel implements fyne.Accessible.
func (l *ItemList) AccessibilityLabel() string {
	if l.highlighted >= len(l.items) {
		return ListLabel(0, "")
	}
	return ListLabel(len(l.items), l.items[l.highlighted].accessibleText())
}

func (i ListItem) accessibleText() string {
	return JoinTexts(cmp.Or(i.Title, plainMarks(i.Found)), i.Text, cmp.Or(i.Full, i.Detail))
}

// AccessibilityRole implements fyne.Accessible.
func (*ItemList) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleContainer }

// AccessibilityLabel implements fyne.Accessible.
func (l *RowList) AccessibilityLabel() string {
	if l.cursor < 0 || l.cursor >= len(l.rows) {
		return ListLabel(len(l.rows), "")
	}
	return ListLabel(len(l.rows), l.Item(l.cursor).accessibleText())
}

// AccessibilityRole implements fyne.Accessible.
func (*RowList) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleContainer }

func (i SidebarItem) accessibleText() string {
	count := ""
	if i.Count > 0 {
		count = fmt.Sprint(i.Count)
	}
	return JoinTexts(i.Title, i.Detail, plainMarks(i.Text), count, Choose(i.Dot, "needs you", ""), Choose(i.Unread, "unread", ""), Choose(i.Selected, "selected", ""))
}

// AccessibilityLabel implements fyne.Accessible.
func (r *SidebarRow) AccessibilityLabel() string { return r.Item().accessibleText() }

// AccessibilityLabel implements fyne.Accessible.
func (r *rowLine) AccessibilityLabel() string { return r.line.item.accessibleText() }

// AccessibilityLabel implements fyne.Accessible.
func (t *Text) AccessibilityLabel() string { return t.Text + t.Suffix }

// AccessibilityRole implements fyne.Accessible.
func (*Text) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// AccessibilityLabel implements fyne.Accessible: the full text, which others see under the mouse.
func (h *HoverText) AccessibilityLabel() string { return cmp.Or(h.full, h.brief) }

// AccessibilityLabel implements fyne.Accessible.
func (p *Paragraph) AccessibilityLabel() string { return p.Text() }

// AccessibilityLabel implements fyne.Accessible.
func (m *MarkedText) AccessibilityLabel() string { return plainMarks(m.text) }

// AccessibilityRole implements fyne.Accessible.
func (*MarkedText) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// plainMarks returns a text without the marks of its highlighted parts.
func plainMarks(text string) string {
	return strings.NewReplacer(MarkStart, "", MarkEnd, "").Replace(text)
}

// AccessibilityLabel implements fyne.Accessible.
func (p *Scroller) AccessibilityLabel() string { return AccessibleText(p.Content) }

// AccessibilityRole implements fyne.Accessible.
func (*Scroller) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// AccessibilityLabel implements fyne.Accessible.
func (*Zoom) AccessibilityLabel() string { return "Picture" }

// NameControls gives controls without a name the text of the label beside them.
func NameControls(name string, controls ...fyne.CanvasObject) {
	for _, o := range controls {
		switch o := o.(type) {
		case *fyne.Container:
			NameControls(name, o.Objects...)
		case interface{ setName(string) }:
			o.setName(name)
		}
	}
}

func (p *pressable) setName(name string) { p.Name = cmp.Or(p.Name, name) }
func (e *Entry) setName(name string)     { e.Name = cmp.Or(e.Name, name) }
func (p *Clickable) setName(string)      {} // its content says what it does

// CheckBox is a check box that can have its name elsewhere on the page.
type CheckBox struct {
	widget.Check
	Name string // for reading aids if there is no text
}

// NewCheckBox creates one; changed may be nil.
func NewCheckBox(text string, changed func(on bool)) *CheckBox {
	c := &CheckBox{}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}
