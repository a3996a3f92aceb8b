package state

// Pick is the selection in a list, by path, so that it survives changes of the list. It belongs to
// one goroutine.
type Pick struct {
	paths  []string // paths of the list, in its order
	index  map[string]int
	chosen map[string]bool
	at     string // path with the keyboard cursor
	anchor string // start of a range
}

// Set sets a new list. Removed entries are deselected; if the cursor's entry was removed, the
// cursor stays at the same position.
func (p *Pick) Set(paths []string) {
	was, had := p.index[p.at]
	p.paths, p.index = paths, make(map[string]int, len(paths))
	for i, path := range paths {
		p.index[path] = i
	}
	for path := range p.chosen {
		if _, ok := p.index[path]; !ok {
			delete(p.chosen, path)
		}
	}
	if _, ok := p.index[p.at]; !ok && had && len(paths) > 0 {
		p.at = paths[min(was, len(paths)-1)]
		p.anchor = p.at
	}
}

// One selects a single entry.
func (p *Pick) One(i int) {
	if i < 0 || i >= len(p.paths) {
		return
	}
	p.at, p.anchor = p.paths[i], p.paths[i]
	p.chosen = map[string]bool{p.at: true}
}

// Toggle selects or deselects an entry.
func (p *Pick) Toggle(i int) {
	if i < 0 || i >= len(p.paths) {
		return
	}
	p.at, p.anchor = p.paths[i], p.paths[i]
	if p.chosen[p.at] {
		delete(p.chosen, p.at)
		return
	}
	if p.chosen == nil {
		p.chosen = map[string]bool{}
	}
	p.chosen[p.at] = true
}

// Range selects everything between the anchor and an entry.
func (p *Pick) Range(i int) {
	from, ok := p.index[p.anchor]
	if !ok {
		p.One(i)
		return
	}
	i = max(0, min(i, len(p.paths)-1))
	p.chosen, p.at = map[string]bool{}, p.paths[i]
	for j := min(from, i); j <= max(from, i); j++ {
		p.chosen[p.paths[j]] = true
	}
}

// All selects everything.
func (p *Pick) All() {
	p.chosen = make(map[string]bool, len(p.paths))
	for _, path := range p.paths {
		p.chosen[path] = true
	}
}

// None clears the selection.
func (p *Pick) None() { p.chosen = nil }

// Move moves the cursor by a number of entries and selects the entry there; with extend, everything
// in between. It returns the index of the entry.
func (p *Pick) Move(by int, extend bool) int {
	if len(p.paths) == 0 {
		return 0
	}
	i, ok := p.index[p.at]
	switch {
	case ok:
		i = max(0, min(i+by, len(p.paths)-1))
	case by < 0:
		i = len(p.paths) - 1
	}
	if extend {
		p.Range(i)
	} else {
		p.One(i)
	}
	return i
}

// At returns the index of the cursor, or -1.
func (p *Pick) At() int {
	if i, ok := p.index[p.at]; ok {
		return i
	}
	return -1
}

// Has reports whether an entry is selected.
func (p *Pick) Has(i int) bool { return i >= 0 && i < len(p.paths) && p.chosen[p.paths[i]] }

// Chosen returns the selected paths, in the list's order.
func (p *Pick) Chosen() []string {
	var list []string
	for i, path := range p.paths {
		if p.Has(i) {
			list = append(list, path)
		}
	}
	return list
}
