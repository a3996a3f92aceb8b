package files

import (
	"fmt"
	"path"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func (p *Page) watchMachine(v feed.View) {
	p.showPlace()
	n, known := v.Machines.Find(p.view.Place)
	online := known && n.Online
	if p.offline && online {
		p.model.Reload()
	}
	was := p.offline
	if p.offline = p.view.Place != "" && !online; p.offline != was {
		p.showSelection()
	}
}

// startPlace returns the machine whose files the page opens: the last one if it is online, else this
// computer, else any that is online. Empty means the agent's own files: they were open last, or no
// machine is online.
func startPlace(v feed.View, last *protocol.NodeID) protocol.NodeID {
	if last != nil {
		if n, ok := v.Machines.Find(*last); *last == "" || ok && n.Online {
			return *last
		}
	}
	if n, ok := v.Machines.Local(); ok {
		return n.ID
	}
	for _, n := range v.Machines {
		if n.Online {
			return n.ID
		}
	}
	return ""
}

// Open shows the files of a machine, in the folder that was shown last; empty shows the agent's own.
func (p *Page) Open(id protocol.NodeID) {
	p.visits.isDetour = false
	p.filter.SetText("")
	p.model.Return(id, p.e.Prefs.Get().FilesDirs[id])
	if p.pair.right == p {
		p.pair.save()
	}
}

// OpenAt shows one of the agent's own files, or a folder if the path ends with a slash.
func (p *Page) OpenAt(place protocol.NodeID, file string) {
	p.visits.isDetour = true
	p.filter.SetText("")
	p.model.Open(place)
	file = wording.Slashes(file)
	dir, name := path.Split(file)
	p.model.Enter(dir)
	if name != "" {
		p.model.Look(file)
	}
}

func (p *Page) showPlace() { p.place.SetText(p.e.Feed.View().PlaceName(p.view.Place)) }

// ToggleHidden shows hidden files or leaves them out (Ctrl+H).
func (p *Page) ToggleHidden() {
	on := !p.view.ShowHidden
	p.model.ShowHidden(on)
	p.e.Prefs.Update(func(r *preferences.Preferences) { r.FilesHidden = on })
}

func (p *Page) showSelection() {
	chosen := p.list.selectedEntries()
	note := p.view.Note
	var size int64
	for _, e := range chosen {
		size += e.Info.Size
	}
	switch {
	case len(chosen) > 1:
		note = fmt.Sprintf("%d of %d selected", len(chosen), len(p.view.Entries))
		if size > 0 {
			note += ", " + format.Size(size)
		}
	case note == "" && len(p.view.Entries) > 0 && p.view.CanBrowse:
		note = format.Plural(len(p.view.Entries), "item")
		if n := p.view.Hidden; n > 0 {
			note += fmt.Sprintf(" · %d hidden", n)
		}
	}
	if why := p.view.WatchProblem; why != "" {
		note = strings.TrimPrefix(note+" · Changes in subfolders do not appear immediately: "+why, " · ")
	}
	if p.offline && len(p.view.Entries) > 0 {
		note = strings.TrimSuffix("The machine is offline. This is its last known state · "+note, " · ")
	}
	p.note.Set(note, style.ColorMuted)
	for i, on := range []bool{len(chosen) == 1, len(chosen) > 0} {
		if on {
			p.selectionButtons[i].Enable()
		} else {
			p.selectionButtons[i].Disable()
		}
	}
}

// Keys are those of [Page.handleKey], of the list of files and of the editor.
var Keys = []widgets.KeyText{
	{Keys: "Enter", Text: "Open"},
	{Keys: "Space", Text: "Select or deselect"},
	{Keys: widgets.ShortcutName("A", false), Text: "Select all"},
	{Keys: "Backspace", Text: "Parent folder"},
	{Keys: "F2", Text: "Rename"},
	{Keys: "Del", Text: "Delete"},
	{Keys: "F3", Text: "Two panes"},
	{Keys: "F5", Text: "Reload"},
	{Keys: widgets.ShortcutName("S", false), Text: "Save in the editor"},
	{Keys: widgets.ShortcutName("Tab", false), Text: "Leave the text of the editor"},
}

func (p *Page) handleKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyBackspace:
		p.model.Up()
	case fyne.KeyF2:
		p.actions.startRename()
	case fyne.KeyDelete:
		p.actions.delete()
	case fyne.KeyF3:
		p.pair.Toggle()
	case fyne.KeyF5:
		p.model.Reload()
	case fyne.KeyEscape:
		p.list.selection.None()
		p.list.selectionChanged()
	}
}

// EditPath lets the person type the folder's path (Ctrl+L).
func (p *Page) EditPath() {
	if p.viewer == nil {
		p.pathBar.edit()
	}
}

// selectLater selects a path, or renames it, once the list contains it: the events before still
// show the old state and would deselect it.
func (p *Page) selectLater(follow, rename string) {
	p.selectPath, p.renamePath = follow, rename
	p.show(p.view)
}

// openOutside returns the action that opens a file, or copies it here, with its words and icon.
func (p *Page) openOutside(file string) (words, icon string, open func()) {
	place := p.view.Place
	switch {
	case p.view.Machine(p.e.Feed.Machines.Get()).Local && !p.e.Feed.Status.Get().Remote:
		return "Open with default app", "external", func() { p.e.Open(host.Folder(p.view.AbsolutePath(p.e.Feed.Machines.Get(), file))) }
	case place != "":
		return "Copy to this computer…", "import", func() { p.e.Open(host.Fetch{Machine: place, Path: file}) }
	}
	return "", "", nil
}

// At returns the folder at a position of the window, as [Pair.At] does.
func (p *Page) At(at fyne.Position) (node protocol.NodeID, dir string, ok bool) {
	if dir, ok = p.folderAt(at); !ok || !p.view.CanChange() {
		return "", "", false
	}
	return p.view.Place, p.view.AbsolutePath(p.e.Feed.Machines.Get(), dir), true
}

func (p *Page) folderAt(at fyne.Position) (dir string, ok bool) {
	if p.viewer != nil || p.view.Place == "" || p.view.Problem != "" || !p.view.CanBrowse {
		return "", false
	}
	from, size := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.body), p.body.Size()
	if at.X < from.X || at.Y < from.Y || at.X > from.X+size.Width || at.Y > from.Y+size.Height {
		return "", false
	}
	if e, on := p.list.entryAt(at); on && e.Dir {
		return e.Path, true
	}
	return p.view.Dir, true
}

// visits remember the folders that are shown, for the next start.
type visits struct {
	prefs    *preferences.Store // nil for a list that does not remember them
	last     string
	isDetour bool // opened for one of the agent's files: the place is not remembered
}

func (s *visits) add(v View) {
	if v.Loading || v.Problem != "" || s.isDetour || s.prefs == nil {
		return
	}
	if now := string(v.Place) + ":" + v.Dir; now != s.last {
		s.last = now
		s.prefs.Update(func(r *preferences.Preferences) {
			r.FilesPlace, r.FilesDirs = &v.Place, lists.MapWith(r.FilesDirs, v.Dir, true, v.Place)
		})
	}
}
