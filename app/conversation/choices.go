package conversation

import (
	"maps"

	"fairlead/app/preferences"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
)

// choices are what the reader chose to see of the rows. They survive updates of the conversation.
type choices struct {
	list       *transcript.View
	expanded   expansion       // parts that the reader or a search expanded or collapsed
	before     expansion       // expanded without the choices of the search; nil without a search
	showSource map[string]bool // rows shown as raw Markdown
	prefs      *preferences.Store
}

func newChoices(list *transcript.View, prefs *preferences.Store) *choices {
	return &choices{list: list, expanded: expansion{}, showSource: map[string]bool{}, prefs: prefs}
}

// expansion has choices to expand or collapse parts of rows.
type expansion map[string]bool

// isExpanded reports whether a collapsible part is expanded: the reader's choice, else the default.
func (e expansion) isExpanded(id string, open bool) bool {
	if was, chosen := e[id]; chosen {
		return was
	}
	return open
}

// reset forgets the choices of one conversation.
func (c *choices) reset() {
	clear(c.expanded)
	clear(c.showSource)
}

// setExpanded records that the reader expanded or collapsed a part of a row. An expanded part is
// brought into view.
func (c *choices) setExpanded(row, id string, open bool) {
	c.expanded[id] = open
	if c.before != nil {
		c.before[id] = open
	}
	c.list.HeightChanged()
	if open {
		c.list.RevealRow(row)
	}
}

// wholeKey is the key in expanded of the choice to see the whole output of a card.
func wholeKey(id string) string { return "whole/" + id }

// showsWhole reports whether a card shows its whole output: the reader chose so, or searches in it.
func (c *choices) showsWhole(id string) bool {
	return c.expanded.isExpanded(wholeKey(id), false) || c.before != nil
}

// wraps reports whether outputs wrap their lines.
func (c *choices) wraps() bool { return c.prefs.Get().WrapOutput }

func (c *choices) setWrap(on bool) {
	c.prefs.Update(func(r *preferences.Preferences) { r.WrapOutput = on })
	c.rebindCards()
}

// rebindCards applies a change of how outputs are shown to the visible cards.
func (c *choices) rebindCards() {
	for _, it := range c.list.Items() {
		if it.Kind == kindTool {
			c.list.Rebind(it.Key)
		}
	}
}

// beginSearch shows whole outputs until [choices.endSearch].
func (c *choices) beginSearch() {
	if c.before == nil {
		c.before = maps.Clone(c.expanded)
	}
	c.rebindCards()
}

// expandMatch expands a part for the search.
func (c *choices) expandMatch(h match) {
	if h.hidden && h.part != "" && !c.expanded.isExpanded(h.part, h.open) {
		c.expanded[h.part] = true
		c.list.Rebind(h.key)
	}
}

// isExpandedBySearch reports whether a search, not the reader, expanded the part of a match.
func (c *choices) isExpandedBySearch(h match) bool { return c.expanded[h.part] && !c.before[h.part] }

// endSearch collapses what the search expanded, unless the reader has changed it since.
func (c *choices) endSearch() {
	searched, before := c.expanded, c.before
	c.expanded, c.before = before, nil
	for _, it := range c.list.Items() {
		if id, _ := collapsible(it); searched[id] != before[id] {
			c.list.Rebind(it.Key)
		}
	}
	c.rebindCards()
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

// visibleText returns the text to copy for a fully selected row: what is visible of it.
func (c *choices) visibleText(it transcript.Item) string {
	id, open := collapsible(it)
	open = c.expanded.isExpanded(id, open)
	switch d := it.Data.(type) {
	case messageData:
		return d.text
	case toolData:
		return d.card.CopyText(open)
	case thinkingData:
		return widgets.Choose(open, d.text, "")
	}
	return ""
}
