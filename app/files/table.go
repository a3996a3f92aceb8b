package files

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
)

// table is the list of a folder. It creates widgets only for visible lines, so it can show tens of
// thousands. A click selects, with Ctrl and Shift several; a double click and Enter open.
type table struct {
	widget.List
	entries   []Entry
	marks     map[string]string // short mark for each path
	nested    bool              // the entries are from several folders
	details   bool              // there are sizes and times
	selection lists.Selection
	renaming  string // path being renamed; empty for none
	focused   bool
	dropPath  string // path of the folder under a drag; empty for none
	now       func() time.Time

	onOpen   func(Entry)
	onSelect func() // the selection changed
	onMenu   func(at fyne.Position)
	onRename func(path, name string)
	onKey    func(*fyne.KeyEvent) // keys that the list does not use
	onDrag   func(at fyne.Position)
	onDrop   func()
	onFocus  func()
	onRune   func(rune) // typed text; may be nil
}

func newTable() *table {
	t := &table{now: time.Now}
	t.Length = func() int { return len(t.entries) }
	t.CreateItem = func() fyne.CanvasObject { return newRow(t) }
	t.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) { o.(*row).show(i) }
	t.HideSeparators = true
	t.ExtendBaseWidget(t)
	return t
}

// Set shows other entries. The selection and the scroll position stay.
func (t *table) Set(entries []Entry, below bool) {
	t.entries, t.nested = entries, below
	t.selection.Set(lists.Map(entries, func(e Entry) string { return e.Path }))
	t.Refresh()
}

func (t *table) selectedEntries() (list []Entry) {
	for i, e := range t.entries {
		if t.selection.Has(i) {
			list = append(list, e)
		}
	}
	return list
}

// startRename starts renaming in place, and reports whether the entry exists.
func (t *table) startRename(path string) bool {
	if !slices.ContainsFunc(t.entries, func(e Entry) bool { return e.Path == path }) {
		return false
	}
	t.renaming = path
	return t.selectPath(path)
}

func (t *table) cancelRename() {
	if t.renaming != "" {
		t.renaming = ""
		t.Refresh()
	}
}

// finishRename ends renaming, with or without the new name.
func (t *table) finishRename(name string) {
	path := t.renaming
	t.cancelRename()
	widgets.Focus(t)
	if name != "" {
		t.onRename(path, name)
	}
}

// selectPath selects the entry with a path, and reports whether it exists.
func (t *table) selectPath(path string) bool {
	i := slices.IndexFunc(t.entries, func(e Entry) bool { return e.Path == path })
	if i < 0 {
		return false
	}
	t.selection.One(i)
	t.ScrollTo(i)
	t.selectionChanged()
	return true
}

func (t *table) entryAt(at fyne.Position) (Entry, bool) {
	from := fyne.CurrentApp().Driver().AbsolutePositionForObject(t)
	i := int((at.Y - from.Y + t.GetScrollOffset()) / (rowHeight() + theme.Padding()))
	if at.Y < from.Y || i < 0 || i >= len(t.entries) {
		return Entry{}, false
	}
	return t.entries[i], true
}

// AccessibleParts returns the rows in view, for [widgets.Readable].
func (t *table) AccessibleParts() []fyne.CanvasObject {
	return widgets.EchoRows(&t.List, rowHeight()+theme.Padding(), len(t.entries), func(i int) (string, fyne.AccessibleRole) {
		e := t.entries[i]
		kind := widgets.Choose(e.Dir, "folder", format.Size(e.Info.Size))
		return widgets.JoinTexts(e.Title(), kind, widgets.Choose(t.selection.Has(i), "selected", "")), fyne.AccessibleRoleButton
	})
}

func (t *table) selectionChanged() {
	t.Refresh()
	t.onSelect()
}

func (t *table) FocusGained() {
	t.focused = true
	t.Refresh()
	t.onFocus()
}

func (t *table) FocusLost() { t.focused = false; t.Refresh() }

// AccessibilityLabel implements fyne.Accessible.
func (t *table) AccessibilityLabel() string {
	current := ""
	if at := t.selection.Cursor(); at >= 0 && at < len(t.entries) {
		current = t.entries[at].Title()
	}
	return widgets.ListLabel(len(t.entries), current)
}

// AccessibilityRole implements fyne.Accessible.
func (t *table) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleContainer }

func (t *table) TypedRune(r rune) { widgets.CallWith(t.onRune, r) }

func (t *table) TypedKey(e *fyne.KeyEvent) {
	page := max(1, int(t.Size().Height/max(1, rowHeight()))-1)
	by := map[fyne.KeyName]int{
		fyne.KeyUp: -1, fyne.KeyDown: 1, fyne.KeyPageUp: -page, fyne.KeyPageDown: page, fyne.KeyHome: -len(t.entries), fyne.KeyEnd: len(t.entries),
	}
	if n, ok := by[e.Name]; ok {
		t.ScrollTo(t.selection.Move(n, widgets.KeyModifiers()&fyne.KeyModifierShift != 0))
		t.selectionChanged()
		return
	}
	switch at := t.selection.Cursor(); {
	case e.Name == fyne.KeySpace && at >= 0:
		t.selection.Toggle(at)
		t.selectionChanged()
	case (e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter) && at >= 0:
		t.onOpen(t.entries[at])
	default:
		t.onKey(e)
	}
}

func (t *table) TypedShortcut(s fyne.Shortcut) {
	switch s.(type) {
	case *fyne.ShortcutSelectAll:
		t.selection.All()
		t.selectionChanged()
	default:
		widgets.PassShortcut(t, s)
	}
}

var (
	_ fyne.Focusable    = (*table)(nil)
	_ fyne.Shortcutable = (*table)(nil)
)

func rowHeight() float32 {
	return fyne.MeasureText("M", style.Size("text"), fyne.TextStyle{}).Height + 2*style.Gap
}
