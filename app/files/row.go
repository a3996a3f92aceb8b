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
	t       *table
	i       int
	shown   drawn
	ground  *widgets.Rect
	icon    *widget.Icon
	title   *widgets.Text
	mark    *widgets.Text
	size    *widgets.Text
	time    *widgets.Text
	field   *nameField
	line    *fyne.Container
	hovered bool
}

// drawn is the content of a row; a row with the same content is not redrawn.
type drawn struct {
	entry   state.FileEntry
	mark    string
	picked  bool
	cursor  bool
	editing bool
	below   bool
	hovered bool
	aimed   bool
	details bool
}

func newRow(t *table) *row {
	r := &row{
		t: t, ground: widgets.NewRect("", "", style.Corner), icon: widget.NewIcon(nil), title: widgets.NewText("", style.ColorText, "text"),
		mark: widgets.NewText("", style.ColorAccent, style.SizeSmall), size: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		time: widgets.NewText("", style.ColorMuted, style.SizeSmall), field: newNameField(t),
	}
	r.title.Ellipsis, r.mark.Ellipsis = true, true
	r.size.Align, r.time.Align = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	r.field.Hide()
	r.line = container.New(&lineLayout{r}, r.icon, r.title, r.field, r.mark, r.size, r.time)
	r.ExtendBaseWidget(r)
	return r
}

// set shows an entry.
func (r *row) set(i int) {
	r.i = i
	if i >= len(r.t.entries) {
		return
	}
	e := r.t.entries[i]
	now := drawn{
		entry: e, mark: r.t.marks[e.Path], picked: r.t.pick.Has(i), cursor: r.t.focused && r.t.pick.At() == i, editing: r.t.editing == e.Path, below: r.t.below,
		hovered: r.hovered, details: r.t.details, aimed: e.Dir && r.t.aim != "" && r.t.aim == e.Path,
	}
	if now == r.shown {
		return
	}
	was := r.shown
	r.shown = now
	r.ground.Fill, r.ground.Line = "", ""
	switch {
	case now.picked:
		r.ground.Fill = style.ColorSelected
	case now.hovered || now.aimed:
		r.ground.Fill = style.ColorHover
	}
	if now.cursor || now.aimed {
		r.ground.Line = style.ColorAccent
	}
	r.ground.Refresh()
	if now.entry != was.entry || now.mark != was.mark || now.editing != was.editing || now.below != was.below || now.details != was.details {
		r.fill(now)
	}
}

func (r *row) fill(d drawn) {
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
	case picture(d.entry.Path):
		icon = "image"
	}
	r.icon.SetResource(style.IconIn(icon, color))
	title := style.ColorText
	if d.entry.Missing {
		title = style.ColorMuted
	}
	r.title.Set(d.entry.Title(), title)
	mark := d.mark
	if dir := path.Dir(d.entry.Path); d.below && dir != "." {
		mark = state.Shown(dir)
	}
	r.mark.Set(mark, markColor(d.entry, mark))
	size, when := "", ""
	if d.entry.Info.Kind == protocol.FileRegular {
		size = state.SizeText(d.entry.Info.Size)
	}
	if d.entry.Info.Time > 0 {
		when = state.When(d.entry.Info.Time, r.t.now())
	}
	r.size.SetText(size)
	r.time.SetText(when)
	if d.editing {
		r.title.Hide()
		r.field.begin(d.entry.Name())
	} else {
		r.title.Show()
		r.field.Hide()
	}
	r.line.Layout.Layout(r.line.Objects, r.line.Size())
}

// CreateRenderer implements fyne.Widget.
func (r *row) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack(r.ground, r.line))
}

// MinSize implements fyne.CanvasObject.
func (r *row) MinSize() fyne.Size { return fyne.NewSize(120, rowHeight()) }

var (
	_ desktop.Mouseable   = (*row)(nil)
	_ desktop.Hoverable   = (*row)(nil)
	_ fyne.DoubleTappable = (*row)(nil)
	_ fyne.Draggable      = (*row)(nil)
)

// picture reports whether a file's name is that of a picture.
func picture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp":
		return true
	}
	return false
}
