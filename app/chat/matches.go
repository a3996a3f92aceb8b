package chat

import (
	"fairlead/app/selection"
	"fairlead/app/transcript"
)

// match is a match: the row and the match's index in it.
type match struct {
	key         string
	index       int
	collapsible bool // visible only if the row is expanded
}

// searchTexts are the searchable texts of a row, in the order of its passages: while it is
// collapsed, and otherwise.
func searchTexts(it transcript.Item) (folded, open []string) {
	switch d := it.Data.(type) {
	case messageData:
		return nil, []string{d.text}
	case toolData:
		return d.card.SearchTexts()
	case thinkingData:
		return nil, []string{d.text}
	}
	return nil, nil
}

// matchCounts caches the number of matches per row, because a streaming answer repeats the search
// ten times a second. It is used by one search at a time.
type matchCounts struct {
	query string
	rows  map[string]rowCount
}

type rowCount struct {
	stamp     uint64
	collapsed int // number of texts outside the collapsible part
	all       int
}

// setQuery resets the cache for a new query.
func (c *matchCounts) setQuery(query string) {
	if c.rows == nil || c.query != query {
		*c = matchCounts{query, map[string]rowCount{}}
	}
}

// search returns the matches in rows, from top to bottom. It modifies only counts.
func (c *matchCounts) search(items []transcript.Item) []match {
	if c.query == "" {
		return nil
	}
	var hits []match
	for _, it := range items {
		n, ok := c.rows[it.Key]
		if !ok || n.stamp != it.Stamp {
			folded, open := searchTexts(it)
			n = rowCount{stamp: it.Stamp, all: c.count(open)}
			n.collapsed = n.all
			if id, _ := collapsible(it); id != "" {
				n.collapsed = min(c.count(folded), n.all)
			}
			c.rows[it.Key] = n
		}
		for i := range n.all {
			hits = append(hits, match{it.Key, i, i >= n.collapsed})
		}
	}
	return hits
}

// count returns the number of matches in texts.
func (c *matchCounts) count(texts []string) (n int) {
	for _, text := range texts {
		n += selection.Count(text, c.query)
	}
	return n
}

// itemText returns the text to copy for a fully selected row; of a collapsed part, only what is
// visible.
func (p *Pane) itemText(it transcript.Item) string {
	id, open := collapsible(it)
	if was, chosen := p.expanded[id]; chosen {
		open = was
	}
	switch d := it.Data.(type) {
	case messageData:
		return d.text
	case toolData:
		return d.card.CopyText(open)
	case thinkingData:
		if open {
			return d.text
		}
	}
	return ""
}

// expansion is a row's state before the search expanded it.
type expansion struct {
	key             string
	wasOpen, chosen bool
	note            string // completed action, as a text for the bar
}

// collapsibleID returns the ID of the collapsible part with a match; empty if it cannot be
// collapsed.
func (f *finder) collapsibleID(h match) string {
	if !h.collapsible {
		return ""
	}
	for _, it := range f.pane.transcript.Items() {
		if it.Key == h.key {
			id, _ := collapsible(it)
			return id
		}
	}
	return ""
}

// collapsible returns a row's ID in the reader's choices, and its default state.
func collapsible(it transcript.Item) (id string, open bool) {
	switch d := it.Data.(type) {
	case toolData:
		return d.id, d.open
	case thinkingData:
		return d.id, false
	}
	return "", false
}

// expand expands the part with a match.
func (f *finder) expand(h match) {
	if !h.collapsible {
		return
	}
	for _, it := range f.pane.transcript.Items() {
		if it.Key != h.key {
			continue
		}
		id, open := collapsible(it)
		was, chosen := f.pane.expanded[id]
		if chosen {
			open = was
		}
		if open || id == "" {
			return
		}
		word := "card expanded"
		if it.Kind == kindThinking {
			word = "thinking expanded"
		}
		f.expanded[id] = expansion{key: it.Key, wasOpen: was, chosen: chosen, note: word}
		f.pane.expanded[id] = true
		f.pane.transcript.Rebind(it.Key)
		return
	}
}

// collapseExpanded collapses the parts that the search expanded, except those that the reader has
// changed since.
func (f *finder) collapseExpanded() {
	for id, was := range f.expanded {
		if was.chosen {
			f.pane.expanded[id] = was.wasOpen
		} else {
			delete(f.pane.expanded, id)
		}
		f.pane.transcript.Rebind(was.key)
	}
	clear(f.expanded)
}

// setExpanded records that the reader expanded or collapsed a part.
func (p *Pane) setExpanded(id string, open bool) {
	p.expanded[id] = open
	delete(p.finder.expanded, id)
	p.transcript.HeightChanged()
}

// runInBackground runs work off the GUI thread and then done on it.
func (p *Pane) runInBackground(work, done func()) {
	if p.handlers.Work == nil {
		work()
		done()
		return
	}
	p.handlers.Work(work, done)
}
