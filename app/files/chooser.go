package files

import (
	"context"
	"fmt"
	"path"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
)

// Chooser is Fairlead's own file dialog, for systems that offer none. It belongs to the GUI thread.
type Chooser struct {
	ctx   context.Context
	q     system.Question
	prefs *preferences.Store
	done  func(paths []string)
	Box   fyne.CanvasObject

	dir        string      // the folder shown, with slashes
	entries    []Entry     // of dir, unsorted
	hidden     int         // number of entries that are left out
	isEntered  bool        // a folder was requested
	newest     bind.Newest // the request for a folder
	sort       Sort
	showHidden bool
	replace    string // path of an existing file: the person was asked whether to replace it
	renamePath string // path to rename once the list contains it

	list    *table
	heads   *columnHeads
	path    *pathBar
	filter  *widgets.SearchField
	name    *textField // the file's name; only to save
	places  *fyne.Container
	body    *fyne.Container
	note    *widgets.Text
	confirm *widgets.Button
}

// NewChooser creates a chooser that works until ctx ends. It calls done with the answer, which has
// no paths if the person cancelled.
func NewChooser(ctx context.Context, q system.Question, prefs *preferences.Store, done func(paths []string)) *Chooser {
	c := &Chooser{
		ctx: ctx, q: q, prefs: prefs, done: done, showHidden: prefs.Get().FilesHidden, list: newTable(), places: widgets.Col(0), body: container.NewStack(),
		filter: widgets.NewSearchField("Filter", ""), note: widgets.NewText("", style.ColorMuted, style.SizeSmall),
	}
	c.note.Ellipsis = true
	c.confirm = widgets.NewButton(q.Button, "", c.accept)
	c.confirm.Primary = true
	c.heads = newColumnHeads(func(column string) { c.sort = c.sort.Next(column); c.arrange() })
	c.path = newPathBar(c.Enter, func() { widgets.Focus(c.list) })
	c.connectList()
	c.filter.OnChanged = func(string) { c.arrange() }
	c.filter.OnCancel = c.cancel
	c.filter.OnMove = func(by int) { widgets.Focus(c.list); c.list.selection.Move(by, false); c.list.selectionChanged() }
	c.filter.OnChoose = c.openFirst
	c.Box = c.frame()
	bind.Go(ctx, func(context.Context) ([]Crumb, error) { return localPlaces(), nil }, func(list []Crumb, _ error) {
		c.showPlaces(list)
		if c.dir == "" && !c.isEntered && len(list) > 0 {
			c.Enter(list[0].Dir)
		}
	})
	if q.Dir != "" {
		c.Enter(filepath.ToSlash(q.Dir))
	}
	return c
}

func (c *Chooser) connectList() {
	l := c.list
	l.details = true
	l.onOpen, l.onSelect, l.onRename = c.open, c.showSelection, c.rename
	l.onMenu, l.onDrag, l.onDrop, l.onFocus = func(fyne.Position) {}, func(fyne.Position) {}, func() {}, func() {}
	l.onRune = func(r rune) { widgets.Focus(c.filter); c.filter.TypedRune(r) }
	l.onKey = func(e *fyne.KeyEvent) {
		switch e.Name {
		case fyne.KeyBackspace:
			c.up()
		case fyne.KeyF5:
			c.Enter(c.dir)
		case fyne.KeyEscape:
			c.cancel()
		}
	}
}

func (c *Chooser) frame() fyne.CanvasObject {
	row := []fyne.CanvasObject{widgets.NewIconButton("up", "Parent folder", c.up), c.path.box, widgets.NewIconButton("eye", "Hidden files", c.ToggleHidden)}
	if c.q.Kind == system.SaveFile || c.q.Kind == system.ChooseFolder {
		create := widgets.NewIconButton("plus", "New folder", c.newFolder)
		if style.Size("text") <= 18 { // with large text the path would have no room
			create.SetText(create.Name)
		}
		create.Quiet = false
		row = append(row, create)
	}
	top := widgets.Col(style.Inside, c.filter, widgets.Row(style.Inside, 1, row...))
	foot := []fyne.CanvasObject{widgets.HLine(), widgets.Row(style.Inside, 0, c.note, widgets.NewButton("Cancel", "", c.cancel), c.confirm)}
	if c.q.Kind == system.SaveFile {
		c.name = newTextField(c.cancel, func() {})
		c.name.SetText(c.q.Name)
		c.name.OnChanged = func(string) { c.askAgain() }
		c.name.OnSubmitted = func(string) { c.accept() }
		foot = append([]fyne.CanvasObject{widgets.Row(style.Inside, 1, widgets.NewText("Name", style.ColorMuted, "text"), c.name)}, foot...)
	}
	files := widgets.Border(widgets.Inset(0, 0, style.Inside, 0, top), nil, nil, nil, c.body)
	line := widgets.NewRect(style.ColorLine, "", 0)
	line.SetMinSize(fyne.NewSize(1, 0))
	left := widgets.Border(nil, nil, nil, line, container.New(&placesLayout{}, widgets.NewVScroll(c.places)))
	middle := widgets.Border(nil, nil, left, nil, widgets.Inset(style.Group, style.Group, style.Inside, style.Group, files))
	return widgets.Border(nil, widgets.Inset(0, style.Group, style.Group, style.Group, widgets.Col(style.Inside, foot...)), nil, nil, middle)
}

// placesLayout gives the list of places a fixed width.
type placesLayout struct{}

func (placesLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(132*style.Size("text")/14, 120)
}

func (placesLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Move(fyne.NewPos(style.Inside, style.Group))
	o[0].Resize(size.SubtractWidthHeight(2*style.Inside, style.Group))
}

func (c *Chooser) showPlaces(list []Crumb) {
	icon := func(dir string) string {
		switch dir {
		case list[0].Dir:
			return "person"
		case list[len(list)-1].Dir:
			return "machine"
		}
		return "folder"
	}
	var rows []fyne.CanvasObject
	for _, p := range list {
		rows = append(rows, widgets.NewSidebarRow(widgets.SidebarItem{Icon: icon(p.Dir), Title: p.Name}, func() { c.Enter(p.Dir) }))
	}
	recent := c.prefs.Get().RecentFolders
	if len(recent) > 0 {
		rows = append(rows, widgets.NewSection("RECENT"))
	}
	for _, dir := range recent {
		name := wording.VisibleName(path.Base(filepath.ToSlash(dir)))
		rows = append(rows, widgets.NewSidebarRow(widgets.SidebarItem{Icon: "clock", Title: name}, func() { c.Enter(filepath.ToSlash(dir)) }))
	}
	widgets.SetContent(c.places, rows...)
}

// Enter shows a folder. An empty path is the root of the disks.
func (c *Chooser) Enter(dir string) {
	if dir == "" {
		dir = "/"
	}
	c.isEntered = true
	bind.Go(c.newest.Context(c.ctx), func(context.Context) ([]Entry, error) { return listLocal(dir) }, func(list []Entry, err error) {
		c.dir, c.entries = dir, list
		c.filter.SetText("")
		c.list.selection.None()
		c.path.set("Computer", localCrumbs(dir))
		c.askAgain()
		c.arrange()
		if c.renamePath != "" && c.list.startRename(c.renamePath) {
			c.renamePath = ""
		}
		if err != nil {
			widgets.SetContent(c.body, widgets.NewLoadError("Could not list the files.", err.Error(), func() { c.Enter(dir) }))
		}
	})
}

// arrange shows the entries that match the filter, in order.
func (c *Chooser) arrange() {
	shown, hidden := arrangeLocal(c.entries, c.sort, c.filter.Text, c.q.Kind == system.ChooseFolder, c.showHidden)
	c.hidden = hidden
	c.list.Set(shown, false)
	c.heads.set(c.sort, true)
	var o fyne.CanvasObject = widgets.Border(c.heads.box, nil, nil, nil, c.list)
	switch {
	case len(shown) > 0:
	case c.filter.Text != "":
		o = container.NewVBox(widgets.NewText("Nothing found", style.ColorMuted, "text"))
	case c.q.Kind == system.ChooseFolder:
		o = widgets.NewEmptyPage("folder", "There are no folders here", "")
	default:
		o = widgets.NewEmptyPage("folder", "This folder is empty", "")
	}
	widgets.SetContent(c.body, o)
	c.showSelection()
}

func (c *Chooser) showSelection() {
	chosen := c.list.selectedEntries()
	note := ""
	if c.hidden > 0 {
		note = fmt.Sprintf("%d hidden", c.hidden)
	}
	var size int64
	for _, e := range chosen {
		size += e.Info.Size
	}
	switch {
	case len(chosen) > 1:
		note = fmt.Sprintf("%d selected, %s", len(chosen), format.Size(size))
	case c.q.Kind == system.ChooseFolder:
		note = c.folder()
	}
	if c.replace == "" {
		c.note.Set(note, style.ColorMuted)
	}
	if c.name != nil && len(chosen) == 1 && !chosen[0].Dir {
		c.name.SetText(chosen[0].Name())
	}
	files := c.chosenFiles()
	switch c.q.Kind {
	case system.OpenFiles:
		widgets.SetEnabled(c.confirm, len(files) > 0)
	case system.OpenFile:
		widgets.SetEnabled(c.confirm, len(files) == 1)
	}
}

func (c *Chooser) chosenFiles() (paths []string) {
	for _, e := range c.list.selectedEntries() {
		if !e.Dir {
			paths = append(paths, filepath.FromSlash(e.Path))
		}
	}
	return paths
}

// folder returns the folder that ChooseFolder chooses: the selected one, else the one shown.
func (c *Chooser) folder() string {
	if chosen := c.list.selectedEntries(); len(chosen) == 1 {
		return filepath.FromSlash(chosen[0].Path)
	}
	return filepath.FromSlash(c.dir)
}
