package state

// Pick is what is chosen in a list, by path, so that it stays when the list changes. It belongs to one goroutine.
type Pick struct {
	paths  []string // of the list, in its order
	index  map[string]int
	chosen map[string]bool
	at     string // where the keyboard is
	anchor string // where a range begins
}

// Set takes another list. What is not in it any more is not chosen any more; where the keyboard was on such, it stays at that place.
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

// One chooses a line alone, Toggle adds it or takes it away, Range chooses all from where the last of those was.
func (p *Pick) One(i int) {
	if i < 0 || i >= len(p.paths) {
		return
	}
	p.at, p.anchor = p.paths[i], p.paths[i]
	p.chosen = map[string]bool{p.at: true}
}

// Toggle adds a line or takes it away.
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

// Range chooses everything between the anchor and a line.
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

// All chooses everything, None nothing.
func (p *Pick) All() {
	p.chosen = make(map[string]bool, len(p.paths))
	for _, path := range p.paths {
		p.chosen[path] = true
	}
}

// None chooses nothing.
func (p *Pick) None() { p.chosen = nil }

// Move goes a number of lines from where the keyboard is, and chooses what is there; with extend all on the way. It returns the line.
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

// At is the line where the keyboard is; -1 is nowhere.
func (p *Pick) At() int {
	if i, ok := p.index[p.at]; ok {
		return i
	}
	return -1
}

// Has reports whether a line is chosen.
func (p *Pick) Has(i int) bool { return i >= 0 && i < len(p.paths) && p.chosen[p.paths[i]] }

// Chosen are the chosen paths, in the list's order.
func (p *Pick) Chosen() []string {
	var list []string
	for i, path := range p.paths {
		if p.Has(i) {
			list = append(list, path)
		}
	}
	return list
}
