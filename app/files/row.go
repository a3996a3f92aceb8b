package files

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

type row struct {
	widgets.Composite
	table      *table
	index      int
	entry      Entry
	background *widgets.Rect
	icon       *widget.Icon
	title      *widgets.Text
	mark       *widgets.Text
	size       *widgets.Text
	time       *widgets.Text
	nameField  *textField
	line       *fyne.Container
	hovered    bool
}

func newRow(t *table) *row {
	r := &row{
		table: t, background: widgets.NewRect("", "", style.Corner), icon: widget.NewIcon(nil), title: widgets.NewText("", style.ColorText, "text"),
		mark: widgets.NewText("", style.ColorAccent, style.SizeSmall), size: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		time: widgets.NewText("", style.ColorMuted, style.SizeSmall), nameField: newTextField(func() { t.finishRename("") }, t.cancelRename),
	}
	r.title.Ellipsis, r.mark.Ellipsis = true, true
	r.size.Align, r.time.Align = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	r.nameField.OnSubmitted = t.finishRename
	r.nameField.Hide()
	r.line = container.New(&rowLayout{r}, r.icon, r.title, r.nameField, r.mark, r.size, r.time)
	r.Compose(r, container.NewStack(r.background, r.line))
	return r
}

func (r *row) show(i int) {
	r.index = i
	if i >= len(r.table.entries) {
		return
	}
	t, e := r.table, r.table.entries[i]
	r.entry = e
	isTarget := e.Dir && t.dropPath != "" && t.dropPath == e.Path
	r.background.Fill, r.background.Line = "", ""
	switch {
	case t.selection.Has(i):
		r.background.Fill = style.ColorSelected
	case r.hovered || isTarget:
		r.background.Fill = style.ColorHover
	}
	if isTarget || t.focused && t.selection.HasCursor(i) {
		r.background.Line = style.ColorAccent
	}
	r.background.Refresh()
	icon, color, title := "file", style.ColorMuted, style.ColorText
	switch {
	case e.Dir:
		icon, color = "folder", style.ColorAccent
	case e.Info.Kind == protocol.FileLink:
		icon = "link"
	case e.Info.Kind == protocol.FileOther:
		icon = "question"
	case e.Missing:
		icon, title = "plus", style.ColorMuted
	case isPicture(e.Path):
		icon = "image"
	}
	widgets.SetIcon(r.icon, icon, color)
	r.title.Set(e.Title(), title)
	mark := t.marks[e.Path]
	if dir := path.Dir(e.Path); t.nested && dir != "." {
		mark = wording.VisibleName(dir)
	}
	r.mark.Set(mark, markColor(e, mark))
	size, when := "", ""
	if e.Info.Kind == protocol.FileRegular {
		size = format.Size(e.Info.Size)
	}
	if e.Info.Time > 0 {
		when = format.When(e.Info.Time, t.now())
	}
	r.size.SetText(size)
	r.time.SetText(when)
	renaming := t.renaming == e.Path
	if renaming && !r.nameField.Visible() {
		r.startRename(e)
	}
	widgets.SetVisible(r.title, !renaming)
	widgets.SetVisible(r.nameField, renaming)
	r.line.Layout.Layout(r.line.Objects, r.line.Size())
}

// startRename shows the field for a new name: Enter saves, Escape and losing the focus cancel.
func (r *row) startRename(e Entry) {
	r.nameField.SetText(e.Name())
	r.nameField.Show()
	r.nameField.edit(r.table)
	r.nameField.selectStart(utf8.RuneCountInString(e.Stem()))
}

func (r *row) MinSize() fyne.Size { return fyne.NewSize(120, rowHeight()) }

var (
	_ desktop.Mouseable   = (*row)(nil)
	_ desktop.Hoverable   = (*row)(nil)
	_ fyne.DoubleTappable = (*row)(nil)
	_ fyne.Draggable      = (*row)(nil)
)

func isPicture(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp"}, strings.ToLower(path.Ext(name)))
}

// MouseDown selects a line at once.
func (r *row) MouseDown(e *desktop.MouseEvent) {
	if r.table.renaming == "" {
		widgets.Focus(r.table)
	}
	primary := e.Button != desktop.MouseButtonSecondary
	switch {
	case primary && e.Modifier&fyne.KeyModifierShift != 0:
		r.table.selection.Range(r.index)
	case primary && e.Modifier&(fyne.KeyModifierControl|fyne.KeyModifierSuper) != 0:
		r.table.selection.Toggle(r.index)
	case !r.table.selection.Has(r.index):
		r.table.selection.One(r.index)
	}
	r.table.selectionChanged()
}

func (r *row) MouseUp(*desktop.MouseEvent) {}

// Tapped selects one of several selected lines alone.
func (r *row) Tapped(*fyne.PointEvent) {
	if widgets.KeyModifiers() == 0 && r.table.selection.Has(r.index) {
		r.table.selection.One(r.index)
		r.table.selectionChanged()
	}
}

func (r *row) DoubleTapped(*fyne.PointEvent) {
	if r.index < len(r.table.entries) && r.table.renaming == "" {
		r.table.onOpen(r.table.entries[r.index])
	}
}

func (r *row) TappedSecondary(e *fyne.PointEvent) {
	if r.index < len(r.table.entries) {
		if !r.table.selection.Has(r.index) {
			r.table.selection.One(r.index)
			r.table.selectionChanged()
		}
		r.table.onMenu(e.AbsolutePosition)
	}
}

func (r *row) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.show(r.index) }

func (r *row) MouseMoved(*desktop.MouseEvent) {}

func (r *row) MouseOut() { r.hovered = false; r.show(r.index) }

func (r *row) Dragged(e *fyne.DragEvent) { r.table.onDrag(e.AbsolutePosition) }

func (r *row) DragEnd() { r.table.onDrop() }
