package files

import (
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// row is one line of a table.
type row struct {
	widget.BaseWidget
	table      *table
	index      int
	content    rowContent
	background *widgets.Rect
	icon       *widget.Icon
	title      *widgets.Text
	mark       *widgets.Text
	size       *widgets.Text
	time       *widgets.Text
	nameField  *nameField
	line       *fyne.Container
	hovered    bool
}

// rowContent is the content of a row; a row with the same content is not redrawn.
type rowContent struct {
	entry      state.FileEntry
	mark       string
	selected   bool
	cursor     bool
	renaming   bool
	nested     bool
	hovered    bool
	dropTarget bool
	details    bool
}

func newRow(t *table) *row {
	r := &row{
		table: t, background: widgets.NewRect("", "", style.Corner), icon: widget.NewIcon(nil), title: widgets.NewText("", style.ColorText, "text"),
		mark: widgets.NewText("", style.ColorAccent, style.SizeSmall), size: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		time: widgets.NewText("", style.ColorMuted, style.SizeSmall), nameField: newNameField(t),
	}
	r.title.Ellipsis, r.mark.Ellipsis = true, true
	r.size.Align, r.time.Align = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	r.nameField.Hide()
	r.line = container.New(&rowLayout{r}, r.icon, r.title, r.nameField, r.mark, r.size, r.time)
	r.ExtendBaseWidget(r)
	return r
}

// show shows an entry.
func (r *row) show(i int) {
	r.index = i
	if i >= len(r.table.entries) {
		return
	}
	e := r.table.entries[i]
	now := rowContent{
		entry: e, mark: r.table.marks[e.Path], selected: r.table.selection.Has(i), cursor: r.table.focused && r.table.selection.Cursor() == i, renaming: r.table.renaming == e.Path, nested: r.table.nested,
		hovered: r.hovered, details: r.table.details, dropTarget: e.Dir && r.table.dropPath != "" && r.table.dropPath == e.Path,
	}
	if now == r.content {
		return
	}
	was := r.content
	r.content = now
	r.background.Fill, r.background.Line = "", ""
	switch {
	case now.selected:
		r.background.Fill = style.ColorSelected
	case now.hovered || now.dropTarget:
		r.background.Fill = style.ColorHover
	}
	if now.cursor || now.dropTarget {
		r.background.Line = style.ColorAccent
	}
	r.background.Refresh()
	if now.entry != was.entry || now.mark != was.mark || now.renaming != was.renaming || now.nested != was.nested || now.details != was.details {
		r.showEntry(now)
	}
}

func (r *row) showEntry(d rowContent) {
	icon, color := "file", style.ColorMuted
	switch {
	case d.entry.Dir:
		icon, color = "folder", style.ColorAccent
	case d.entry.Info.Kind == protocol.FileLink:
		icon = "link"
	case d.entry.Info.Kind == protocol.FileOther:
		icon = "question"
	case d.entry.Missing:
		icon = "plus"
	case isPicture(d.entry.Path):
		icon = "image"
	}
	r.icon.SetResource(style.IconIn(icon, color))
	title := style.ColorText
	if d.entry.Missing {
		title = style.ColorMuted
	}
	r.title.Set(d.entry.Title(), title)
	mark := d.mark
	if dir := path.Dir(d.entry.Path); d.nested && dir != "." {
		mark = state.VisibleName(dir)
	}
	r.mark.Set(mark, markColor(d.entry, mark))
	size, when := "", ""
	if d.entry.Info.Kind == protocol.FileRegular {
		size = state.SizeText(d.entry.Info.Size)
	}
	if d.entry.Info.Time > 0 {
		when = state.When(d.entry.Info.Time, r.table.now())
	}
	r.size.SetText(size)
	r.time.SetText(when)
	if d.renaming {
		r.title.Hide()
		r.nameField.begin(d.entry.Name())
	} else {
		r.title.Show()
		r.nameField.Hide()
	}
	r.line.Layout.Layout(r.line.Objects, r.line.Size())
}

// CreateRenderer implements fyne.Widget.
func (r *row) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack(r.background, r.line))
}

// MinSize implements fyne.CanvasObject.
func (r *row) MinSize() fyne.Size { return fyne.NewSize(120, rowHeight()) }

var (
	_ desktop.Mouseable   = (*row)(nil)
	_ desktop.Hoverable   = (*row)(nil)
	_ fyne.DoubleTappable = (*row)(nil)
	_ fyne.Draggable      = (*row)(nil)
)

// isPicture reports whether a file's name is that of a picture.
func isPicture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp":
		return true
	}
	return false
}
