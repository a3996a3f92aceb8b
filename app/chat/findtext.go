package chat

import (
	"fairlead/app/widgets"
)

// hit is a place where the text stands: the how manieth in a row.
type hit struct {
	key  string
	n    int
	fold bool // it is seen only when its row is unfolded
}

// texts are what a row says, as far as it is looked through, in the order of its passages: while it is folded, and else.
func texts(it widgets.Item) (folded, open []string) {
	switch d := it.Data.(type) {
	case messageData:
		return nil, []string{d.text}
	case toolData:
		return d.tool.Searched()
	case foldData:
		return nil, []string{d.text}
	}
	return nil, nil
}

// counts are how often rows hold a query, kept while neither changes: an answer that streams in asks ten times a second. One search has them at a
// time.
type counts struct {
	query string
	rows  map[string]rowCount
}

type rowCount struct {
	stamp uint64
	seen  int // before what may be folded
	all   int
}

// ask readies for a query.
func (c *counts) ask(query string) {
	if c.rows == nil || c.query != query {
		*c = counts{query, map[string]rowCount{}}
	}
}

// search gives the places in rows, from top to bottom. It changes nothing but the counts.
func (c *counts) search(items []widgets.Item) []hit {
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

// in is how often texts hold the query.
func (c *counts) in(texts []string) (n int) {
	for _, text := range texts {
		n += widgets.Count(text, c.query)
	}
	return n
}

// words are what is copied of a row that is marked whole: of what is folded what is seen of it.
func (p *Pane) words(it widgets.Item) string {
	id, open := foldID(it)
	if was, chosen := p.open[id]; chosen {
		open = was
	}
	switch d := it.Data.(type) {
	case messageData:
		return d.text
	case toolData:
		return d.tool.Words(open)
	case foldData:
		if open {
			return d.text
		}
	}
	return ""
}

// folding is how a row was before it was unfolded to show a place in it.
type folding struct {
	key          string
	open, chosen bool
	word         string // what was done, for the line
}

// foldOf is the id of what holds a place, empty when that cannot be folded.
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

// foldID names a row in what the reader opened, and how it is unless they did.
func foldID(it widgets.Item) (id string, open bool) {
	switch d := it.Data.(type) {
	case toolData:
		return d.id, d.open
	case foldData:
		return d.id, false
	}
	return "", false
}

// unfold opens what holds a place.
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
		word := "opened the card"
		if it.Kind == kindFold {
			word = "opened the thought"
		}
		f.unfolded[id] = folding{key: it.Key, open: was, chosen: chosen, word: word}
		f.p.open[id] = true
		f.p.transcript.Again(it.Key)
		return
	}
}

// foldAgain folds what was unfolded, but for what the reader folded or opened since.
func (f *finder) foldAgain() {
	for id, was := range f.unfolded {
		if was.chosen {
			f.p.open[id] = was.open
		} else {
			delete(f.p.open, id)
		}
		f.p.transcript.Again(was.key)
	}
	clear(f.unfolded)
}

// choose remembers that the reader folded or opened something.
func (p *Pane) choose(id string, open bool) {
	p.open[id] = open
	delete(p.find.unfolded, id)
	p.transcript.Changed()
}

// work runs a piece of work beside the GUI thread and then done on it.
func (p *Pane) work(work, done func()) {
	if p.h.Work == nil {
		work()
		done()
		return
	}
	p.h.Work(work, done)
}
