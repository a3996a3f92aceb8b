package selection

import (
	"iter"
	"unicode/utf8"
)

// Highlights holds the selection and the search results in a text of several parts (lines or
// paragraphs), which are separated by one rune. Positions are in runes.
type Highlights struct {
	From, To int // selection
	query    string
	Hits     [][2]int // search results
	Current  int      // index in hits; -1 means none
}

// Select selects a range, none if from equals to, and reports whether the selection changed.
func (m *Highlights) Select(from, to int) bool {
	if from > to {
		from, to = to, from
	}
	changed := m.From != from || m.To != to
	m.From, m.To = from, to
	return changed
}

// Find searches for a query in the parts, and reports whether the query is new.
func (m *Highlights) Find(query string, parts iter.Seq[string]) bool {
	if query == m.query {
		return false
	}
	m.query = query
	m.Update(parts)
	return true
}

// Update repeats the search in other parts.
func (m *Highlights) Update(parts iter.Seq[string]) {
	m.Hits = nil
	if m.query == "" {
		return
	}
	off, query := 0, lower(m.query)
	for text := range parts {
		for _, h := range matchRunes(text, query) {
			m.Hits = append(m.Hits, [2]int{off + h[0], off + h[1]})
		}
		off += utf8.RuneCountInString(text) + 1
	}
}

// ShowHit makes a result the current one. It reports whether that is a change, and the result's
// position; ok is false if there is no such result.
func (m *Highlights) ShowHit(hit int) (changed bool, at int, ok bool) {
	changed = m.Current != hit
	m.Current = hit
	if hit < 0 || hit >= len(m.Hits) {
		return changed, 0, false
	}
	return changed, m.Hits[hit][0], true
}

// WordAt returns the word at a position, or the whole part.
func WordAt(parts iter.Seq[string], at int, whole bool) (from, to int) {
	off := 0
	for part := range parts {
		text := []rune(part)
		if at <= off+len(text) {
			if whole {
				return off, off + len(text)
			}
			a, z := wordAround(text, at-off)
			return off + a, off + z
		}
		off += len(text) + 1
	}
	return at, at
}
