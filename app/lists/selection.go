package lists

import (
	"maps"
	"slices"
)

// Selection is the selection in a list, by path. It belongs to one goroutine.
type Selection struct {
	paths    []string // paths of the list, in its order
	selected map[string]bool
	cursor   string // path with the keyboard cursor
	anchor   string // start of a range
}

// Set sets a new list without deselecting what stays. A removed cursor keeps its position.
func (p *Selection) Set(paths []string) {
	was := p.Cursor()
	known := MapWith[string, bool](nil, true, true, paths...)
	p.paths = paths
	maps.DeleteFunc(p.selected, func(path string, _ bool) bool { return !known[path] })
	if !known[p.cursor] && was >= 0 && len(paths) > 0 {
		p.cursor = paths[min(was, len(paths)-1)]
		p.anchor = p.cursor
	}
}

// One selects a single entry.
func (p *Selection) One(i int) {
	if i < 0 || i >= len(p.paths) {
		return
	}
	p.cursor, p.anchor = p.paths[i], p.paths[i]
	p.selected = map[string]bool{p.cursor: true}
}

// Toggle selects or deselects an entry.
func (p *Selection) Toggle(i int) {
	if i < 0 || i >= len(p.paths) {
		return
	}
	p.cursor, p.anchor = p.paths[i], p.paths[i]
	p.selected = MapWith(p.selected, true, !p.selected[p.cursor], p.cursor)
}

// Range selects everything between the anchor and an entry.
func (p *Selection) Range(i int) {
	from := slices.Index(p.paths, p.anchor)
	if from < 0 {
		p.One(i)
		return
	}
	i = max(0, min(i, len(p.paths)-1))
	p.selected = MapWith[string, bool](nil, true, true, p.paths[min(from, i):max(from, i)+1]...)
	p.cursor = p.paths[i]
}

// All selects everything.
func (p *Selection) All() { p.selected = MapWith[string, bool](nil, true, true, p.paths...) }

// None clears the selection.
func (p *Selection) None() { p.selected = nil }

// Move moves the cursor and selects its entry, or with extend a range. It returns the index.
func (p *Selection) Move(by int, extend bool) int {
	if len(p.paths) == 0 {
		return 0
	}
	i := p.Cursor()
	switch {
	case i >= 0:
		i = max(0, min(i+by, len(p.paths)-1))
	case by < 0:
		i = len(p.paths) - 1
	default:
		i = min(by, len(p.paths)) - 1
	}
	if extend {
		p.Range(i)
	} else {
		p.One(i)
	}
	return i
}

// Cursor returns the index of the cursor, or -1.
func (p *Selection) Cursor() int { return slices.Index(p.paths, p.cursor) }

// HasCursor reports whether an entry has the cursor.
func (p *Selection) HasCursor(i int) bool {
	return i >= 0 && i < len(p.paths) && p.paths[i] == p.cursor
}

// HasPath reports whether the entry with a path is selected.
func (p *Selection) HasPath(path string) bool { return p.selected[path] }

// Has reports whether an entry is selected.
func (p *Selection) Has(i int) bool { return i >= 0 && i < len(p.paths) && p.selected[p.paths[i]] }
