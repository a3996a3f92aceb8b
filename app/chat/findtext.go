package chat

import (
	"fairlead/app/selection"
	"fairlead/app/transcript"
)

// hit is a match: the row and the match's index in it.
type hit struct {
	key  string
	n    int
	fold bool // visible only if the row is expanded
}

// texts are the searchable texts of a row, in the order of its passages: while it is collapsed, and
// otherwise.
func texts(it transcript.Item) (folded, open []string) {
	switch d := it.Data.(type) {
	case messageData:
		return nil, []string{d.text}
	case toolData:
		return d.tool.SearchTexts()
	case foldData:
		return nil, []string{d.text}
	}
	return nil, nil
}

// counts caches the number of matches per row, because a streaming answer repeats the search ten
// times a second. It is used by one search at a time.
type counts struct {
	query string
	rows  map[string]rowCount
}

type rowCount struct {
	stamp uint64
	seen  int // number of texts outside the collapsible part
	all   int
}

// ask resets the cache for a new query.
func (c *counts) ask(query string) {
	if c.rows == nil || c.query != query {
		*c = counts{query, map[string]rowCount{}}
	}
}

// search returns the matches in rows, from top to bottom. It modifies only counts.
func (c *counts) search(items []transcript.Item) []hit {
	if c.query == "" {
		return nil
	}
	var hits []hit
	for _, it := range items {
		n, ok := c.rows[it.Key]
		if !ok || n.stamp != it.Stamp {
			folded, open := texts(it)
			n = rowCount{stamp: it.Stamp, all: c.in(open)}
			n.seen = n.all
			if id, _ := foldID(it); id != "" {
				n.seen = min(c.in(folded), n.all)
			}
			c.rows[it.Key] = n
		}
		for i := range n.all {
			hits = append(hits, hit{it.Key, i, i >= n.seen})
		}
	}
	return hits
}

// in returns the number of matches in texts.
func (c *counts) in(texts []string) (n int) {
	for _, text := range texts {
		n += selection.Count(text, c.query)
	}
	return n
}

// words returns the text to copy for a fully selected row; of a collapsed part, only what is
// visible.
func (p *Pane) words(it transcript.Item) string {
	id, open := foldID(it)
	if was, chosen := p.open[id]; chosen {
		open = was
	}
	switch d := it.Data.(type) {
	case messageData:
		return d.text
	case toolData:
		return d.tool.CopyText(open)
	case foldData:
		if open {
			return d.text
		}
	}
	return ""
}

// folding is a row's state before the search expanded it.
type folding struct {
	key          string
	open, chosen bool
	word         string // completed action, as a text for the bar
}

// foldOf returns the ID of the collapsible part with a match; empty if it cannot be collapsed.
func (f *finder) foldOf(h hit) string {
	if !h.fold {
		return ""
	}
	for _, it := range f.p.transcript.Items() {
		if it.Key == h.key {
			id, _ := foldID(it)
			return id
		}
	}
	return ""
}

// foldID returns a row's ID in the reader's choices, and its default state.
func foldID(it transcript.Item) (id string, open bool) {
	switch d := it.Data.(type) {
	case toolData:
		return d.id, d.open
	case foldData:
		return d.id, false
	}
	return "", false
}

// unfold expands the part with a match.
func (f *finder) unfold(h hit) {
	if !h.fold {
		return
	}
	for _, it := range f.p.transcript.Items() {
		if it.Key != h.key {
			continue
		}
		id, open := foldID(it)
		was, chosen := f.p.open[id]
		if chosen {
			open = was
		}
		if open || id == "" {
			return
		}
		word := "card expanded"
		if it.Kind == kindFold {
			word = "thinking expanded"
		}
		f.unfolded[id] = folding{key: it.Key, open: was, chosen: chosen, word: word}
		f.p.open[id] = true
		f.p.transcript.Rebind(it.Key)
		return
	}
}

// foldAgain collapses the parts that the search expanded, except those that the reader has changed
// since.
func (f *finder) foldAgain() {
	for id, was := range f.unfolded {
		if was.chosen {
			f.p.open[id] = was.open
		} else {
			delete(f.p.open, id)
		}
		f.p.transcript.Rebind(was.key)
	}
	clear(f.unfolded)
}

// choose records that the reader expanded or collapsed a part.
func (p *Pane) choose(id string, open bool) {
	p.open[id] = open
	delete(p.find.unfolded, id)
	p.transcript.HeightChanged()
}

// work runs work off the GUI thread and then done on it.
func (p *Pane) work(work, done func()) {
	if p.h.Work == nil {
		work()
		done()
		return
	}
	p.h.Work(work, done)
}
