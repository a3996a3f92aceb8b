package chat

import (
	"fairlead/gateway/protocol"
)

// wholeKey is the key in [Pane.expanded] of the reader's choice to see the whole output of a card.
func wholeKey(id string) string { return "whole/" + id }

// showsWhole reports whether a card shows its whole output: the reader chose so, or searches in it.
func (p rowFactory) showsWhole(id string) bool {
	return p.expanded.isExpanded(wholeKey(id), false) || p.finder.box.Visible()
}

// rebindCards applies a change of how outputs are shown to the visible cards.
func (p *Pane) rebindCards() {
	for _, it := range p.transcript.Items() {
		if it.Kind == kindTool {
			p.transcript.Rebind(it.Key)
		}
	}
}

// openOutput opens the whole output of a card in a window.
func (p rowFactory) openOutput(d toolData, search bool) {
	open := func(text string) {
		title := d.card.Verb + " " + d.card.Argument
		if d.card.Machine != "" {
			title += " on " + d.card.Machine
		}
		p.handlers.OpenOutput(title, text, search)
	}
	switch {
	case p.handlers.OpenOutput == nil:
	case d.card.CanLoad && p.handlers.Output != nil:
		p.handlers.Output(d.call, open)
	default:
		open(d.card.Output)
	}
}

// loadOutput loads and shows the whole output of a call.
func (p rowFactory) loadOutput(id protocol.CallID) {
	if p.handlers.Output == nil {
		return
	}
	builder := p.builder
	p.handlers.Output(id, func(text string) {
		builder.outputs[id] = text
		if builder == p.builder { // the chat is still shown
			builder.clearCache()
			p.Pane.show()
		}
	})
}
