package screen

import "strings"

// table gives strings numbers that fit into a cell: the combined characters, and the addresses of
// links. 0 is the empty string.
type table struct {
	texts   []string
	index   map[string]uint32
	bytes   int
	limit   int // of texts
	refused int // how many requests are refused before the next sweep
}

// maxTableBytes bounds the memory of a table.
const maxTableBytes = 1 << 20

func newTable(limit int) table {
	return table{texts: []string{""}, index: map[string]uint32{"": 0}, limit: limit}
}

// number returns the number of a text, or 0 if the table is full also without the texts that no cell
// uses any more. sweep visits each number in use and stores the one that it gets instead; it can
// be nil.
func (t *table) number(text string, sweep func(visit func(uint32) uint32)) uint32 {
	if n, ok := t.index[text]; ok {
		return n
	}
	if t.full(1) {
		if sweep == nil {
			return 0
		}
		if t.refused--; t.refused > 0 {
			return 0
		}
		old := *t
		*t = newTable(old.limit)
		sweep(func(n uint32) uint32 { return t.add(old.texts[n]) })
		if t.full(0.75) { // a sweep costs too much to run for each new text
			t.refused = t.limit / 4
			return 0
		}
	}
	return t.add(strings.Clone(text))
}

func (t *table) full(share float64) bool {
	return float64(len(t.texts)) >= share*float64(t.limit) || float64(t.bytes) >= share*maxTableBytes
}

func (t *table) add(text string) uint32 {
	if n, ok := t.index[text]; ok {
		return n
	}
	n := uint32(len(t.texts))
	t.texts, t.index[text] = append(t.texts, text), n
	t.bytes += len(text)
	return n
}

// text returns the characters of a glyph, " " if nothing was written. The table is that of clusters.
func (t *table) text(g glyph) string {
	switch {
	case g&glyphValue == 0:
		return " "
	case g&clusterGlyph != 0:
		return t.texts[g&glyphValue]
	}
	return string(rune(g & glyphValue))
}
