package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// Fyne tells reading aids about plain containers and what is directly in them: not about what
// scrolls, nor about the parts of other widgets. [Readable] lists these beside the content.

// Readable returns the content of a window, in which reading aids find everything.
func Readable(content fyne.CanvasObject) fyne.CanvasObject {
	if !hasReadingAids {
		return content
	}
	return newReadable(content)
}

// newReadable returns a container with the content, which Fyne's walk does not enter, and the list
// of what is in it.
func newReadable(content fyne.CanvasObject) *fyne.Container {
	list := container.NewWithoutLayout()
	return container.NewStack(newReadContent(content, list), list)
}

// readContent is the content. Fyne asks for its role just before it walks the list, after each
// repaint.
type readContent struct {
	Frame
	list *fyne.Container
}

func newReadContent(content fyne.CanvasObject, list *fyne.Container) *readContent {
	c := &readContent{list: list}
	c.Compose(c, content)
	return c
}

// AccessibilityLabel implements fyne.Accessible.
func (*readContent) AccessibilityLabel() string { return "" }

// AccessibilityRole implements fyne.Accessible. It lists what is in the content.
func (c *readContent) AccessibilityRole() fyne.AccessibleRole {
	c.list.Objects = appendEchoes(nil, c.content, fyne.Position{})
	return fyne.AccessibleRoleContainer
}

// Echo is what a reading aid gets of an object. It is not drawn and takes no events, and is always
// visible.
type Echo struct {
	Label string
	Role  fyne.AccessibleRole
	At    fyne.Position
	Area  fyne.Size
}

// AccessibilityLabel implements fyne.Accessible.
func (e *Echo) AccessibilityLabel() string { return e.Label }

// AccessibilityRole implements fyne.Accessible.
func (e *Echo) AccessibilityRole() fyne.AccessibleRole { return e.Role }

func (*Echo) MinSize() fyne.Size        { return fyne.Size{} }
func (e *Echo) Move(p fyne.Position)    { e.At = p }
func (e *Echo) Position() fyne.Position { return e.At }
func (e *Echo) Resize(s fyne.Size)      { e.Area = s }
func (e *Echo) Size() fyne.Size         { return e.Area }
func (*Echo) Hide()                     {}
func (*Echo) Show()                     {}
func (*Echo) Visible() bool             { return true }
func (*Echo) Refresh()                  {}

// parent is a widget with parts that reading aids find one by one.
type parent interface{ AccessibleParts() []fyne.CanvasObject }

// framed is a [Frame].
type framed interface {
	fyne.Widget
	Compose(self fyne.Widget, content fyne.CanvasObject)
}

// appendEchoes appends what reading aids get of an object and of the objects in it, in reading
// order. at is the position of the object's parent.
func appendEchoes(list []fyne.CanvasObject, o fyne.CanvasObject, at fyne.Position) []fyne.CanvasObject {
	if o == nil || !o.Visible() {
		return list
	}
	at = at.Add(o.Position())
	var parts []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		parts = o.Objects
	case *container.Scroll:
		parts = []fyne.CanvasObject{o.Content}
	case *container.Clip:
		parts = []fyne.CanvasObject{o.Content}
	default:
		if a, ok := o.(fyne.Accessible); ok && a.AccessibilityRole() != fyne.AccessibleRoleContainer {
			if label := a.AccessibilityLabel(); label != "" {
				list = append(list, &Echo{label, a.AccessibilityRole(), at, o.Size()})
			}
			return list
		}
		switch o := o.(type) {
		case parent:
			parts = o.AccessibleParts()
		case framed:
			parts = o.CreateRenderer().Objects() // its content: that renderer has no state
		}
	}
	for _, p := range parts {
		list = appendEchoes(list, p, at)
	}
	return list
}

// AccessibleParts returns the rows in view.
func (l *RowList) AccessibleParts() (rows []fyne.CanvasObject) {
	for i := range l.rows {
		if line := l.lines[i]; line != nil {
			at := fyne.NewPos(0, l.tops[i]-l.scroller.offset.Y)
			rows = append(rows, &Echo{line.AccessibilityLabel(), line.AccessibilityRole(), at, line.Size()})
		}
	}
	return rows
}

// AccessibleParts returns the lines in view.
func (l *ItemList) AccessibleParts() []fyne.CanvasObject {
	return EchoRows(&l.List, l.step(), len(l.items), func(i int) (string, fyne.AccessibleRole) {
		return l.items[i].accessibleText(), Choose(l.items[i].Heading, fyne.AccessibleRoleText, fyne.AccessibleRoleButton)
	})
}

// EchoRows returns what reading aids get of the rows in view of a list with n rows, whose tops are
// a step apart.
func EchoRows(l *widget.List, step float32, n int, row func(i int) (string, fyne.AccessibleRole)) (rows []fyne.CanvasObject) {
	offset, size := l.GetScrollOffset(), l.Size()
	for i := int(offset / step); i < min(int((offset+size.Height)/step)+1, n); i++ {
		label, role := row(i)
		rows = append(rows, &Echo{label, role, fyne.NewPos(0, float32(i)*step-offset), fyne.NewSize(size.Width, step)})
	}
	return rows
}
