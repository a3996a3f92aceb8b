package widgets

import (
	"iter"
	"unicode/utf8"
)

// marks holds the selection and the search results in a text of several parts (lines or
// paragraphs), which are separated by one rune. Positions are in runes.
type marks struct {
	from, to int // selection
	query    string
	hits     [][2]int // search results
	current  int      // index in hits; -1 is none
}

// mark selects a range, none if from equals to, and reports whether the selection changed.
func (m *marks) mark(from, to int) bool {
	if from > to {
		from, to = to, from
	}
	changed := m.from != from || m.to != to
	m.from, m.to = from, to
	return changed
}

// ask searches for a query in the parts, and reports whether the query is new.
func (m *marks) ask(query string, parts iter.Seq[string]) bool {
	if query == m.query {
		return false
	}
	m.query = query
	m.look(parts)
	return true
}

// look repeats the search in other parts.
func (m *marks) look(parts iter.Seq[string]) {
	m.hits = nil
	if m.query == "" {
		return
	}
	off, query := 0, folded(m.query)
	for text := range parts {
		for _, h := range occurrences(text, query) {
			m.hits = append(m.hits, [2]int{off + h[0], off + h[1]})
		}
		off += utf8.RuneCountInString(text) + 1
	}
}

// show makes a result the current one. It reports whether that is a change, and the result's
// position; ok is false if there is no such result.
func (m *marks) show(hit int) (changed bool, at int, ok bool) {
	changed = m.current != hit
	m.current = hit
	if hit < 0 || hit >= len(m.hits) {
		return changed, 0, false
	}
	return changed, m.hits[hit][0], true
}

// wordIn returns the word at a position, or the whole part.
func wordIn(parts iter.Seq[string], at int, whole bool) (from, to int) {
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
