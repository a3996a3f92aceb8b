package files

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/preferences"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Entry is a file or folder. Outside the workspace, Path is absolute.
type Entry struct {
	Path    string
	Dir     bool
	Info    protocol.FileInfo // empty if the place does not report it
	Missing bool              // the agent would read this file, but it does not exist
}

// Name returns the last element of the path.
func (e Entry) Name() string { return path.Base(e.Path) }

// Title returns the name in the form of [wording.VisibleName].
func (e Entry) Title() string { return wording.VisibleName(e.Name()) }

// Stem returns the part of the name that a person changes when renaming: without the extension.
func (e Entry) Stem() string {
	name := e.Name()
	stem := strings.TrimSuffix(name, path.Ext(name))
	if e.Dir || stem == "" {
		return name
	}
	return cmp.Or(strings.TrimSuffix(stem, ".tar"), stem)
}

// Columns of a list of files.
const (
	ByName = "name"
	BySize = "size"
	ByTime = "time"
)

// Sort is the order of a list of files.
type Sort preferences.FileSort

// Next returns the order after a click: from A, or from the largest; again: reversed.
func (s Sort) Next(by string) Sort {
	if cmp.Or(s.By, ByName) == by {
		return Sort{By: by, Down: !s.Down}
	}
	return Sort{By: by, Down: by != ByName}
}

// order sorts entries, folders first. Without known times the newest are first already.
func (s Sort) order(list []Entry) {
	known := slices.ContainsFunc(list, func(e Entry) bool { return e.Info.Name != "" })
	if s.By == ByTime && !known {
		return
	}
	// lowering the names once, not for each comparison, takes a third of the time
	lower := lists.Map(list, func(e Entry) string { return strings.ToLower(e.Path) })
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &list[i], &list[j]
		if a.Dir != b.Dir {
			return lists.TrueFirst(a.Dir, b.Dir)
		}
		byName := cmp.Or(strings.Compare(lower[i], lower[j]), strings.Compare(a.Path, b.Path), i-j)
		c := byName
		switch s.By {
		case BySize:
			c = cmp.Compare(a.Info.Size, b.Info.Size)
		case ByTime:
			c = cmp.Compare(a.Info.Time, b.Info.Time)
		}
		if s.Down {
			c = -c
		}
		return cmp.Or(c, byName)
	})
	copy(list, lists.Map(order, func(i int) Entry { return list[i] }))
}

// InfoOf returns what the list reports about a file; it is empty if the list does not have it.
func (v View) InfoOf(path string) protocol.FileInfo {
	e, _ := lists.Find(v.Entries, func(e Entry) bool { return e.Path == path })
	return e.Info
}

// isHidden reports whether a path, relative to the listed folder, is hidden or in a hidden folder.
func isHidden(rel string) bool { return strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.") }

// visibleEntries returns the entries without the hidden ones, unless the view shows those.
func visibleEntries(list []Entry, v View) []Entry {
	if v.ShowHidden {
		return list
	}
	return lists.Without(list, func(e Entry) bool { return isHidden(strings.TrimPrefix(strings.TrimPrefix(e.Path, v.Dir), "/")) })
}

// relativeDir returns a folder relative to the workspace of a machine, or absolute if outside.
func relativeDir(machines feed.MachineList, place protocol.NodeID, dir string) string {
	dir = wording.Slashes(dir)
	if n, ok := machines.Find(place); ok && n.Host != nil && n.Host.Workspace != "" && place != "" {
		top := strings.TrimSuffix(wording.Slashes(n.Host.Workspace), "/")
		if dir == top {
			return ""
		}
		dir = strings.TrimPrefix(dir, top+"/")
		if isAbsolute(dir) {
			return strings.TrimSuffix(dir, "/")
		}
	}
	return strings.Trim(dir, "/")
}

func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// parentDir returns the parent of a folder; the top folder is its own parent.
func parentDir(dir string) string {
	if i := strings.LastIndex(dir, "/"); i > 0 {
		return dir[:i]
	}
	return ""
}

func entryOf(dir string, e protocol.FileInfo) Entry {
	p := e.Name
	if dir != "" {
		p = strings.TrimSuffix(dir, "/") + "/" + e.Name
	}
	return Entry{Path: p, Dir: e.Folder(), Info: e}
}

// unusedName returns a name for a new folder that no entry has.
func unusedName(there []Entry) string {
	name := "New folder"
	for i := 2; slices.ContainsFunc(there, func(e Entry) bool { return strings.EqualFold(e.Name(), name) }); i++ {
		name = fmt.Sprintf("New folder %d", i)
	}
	return name
}

// ChangeOf returns the agent's last change of a file, unless it was undone or written over.
func (v View) ChangeOf(abs string) (protocol.FileChange, bool) {
	c, ok := lists.Find(v.Changed, func(c protocol.FileChange) bool { return wording.Slashes(c.Path) == wording.Slashes(abs) })
	return c, ok && !c.Reverted && !c.Altered
}

// CanChange reports whether files of the folder can be moved, renamed and deleted.
func (v View) CanChange() bool { return v.Place != "" && v.CanBrowse && !v.ReadOnly }

// Machine returns the machine that is shown; its ID is empty if it is unknown.
func (v View) Machine(all feed.MachineList) protocol.NodeInfo {
	n, _ := all.Find(v.Place)
	return n
}

// AbsolutePath returns a path in the notation of its machine's system.
func (v View) AbsolutePath(all feed.MachineList, file string) string {
	if n := v.Machine(all); n.Host != nil && !strings.HasPrefix(file, "/") && !(len(file) > 1 && file[1] == ':') {
		return strings.TrimSuffix(strings.TrimRight(n.Host.Workspace, `/\`)+"/"+file, "/")
	}
	return file
}
