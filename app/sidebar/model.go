package sidebar

import (
	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Place is what the window shows.
type Place struct {
	Chat    protocol.SessionKey // the chat, also while a page hides it
	Page    string              // the title of the page; empty for the chat
	Machine protocol.NodeID     // of the page of machines
}

// chatFacts are what the rows of chats show in addition to the chats themselves.
type chatFacts struct {
	working, asking map[protocol.SessionKey]bool
}

func factsOf(v feed.View) chatFacts {
	f := chatFacts{working: make(map[protocol.SessionKey]bool), asking: make(map[protocol.SessionKey]bool)}
	for _, r := range v.Runs.List {
		if !r.Over() {
			f.working[r.SessionKey] = true
		}
	}
	for _, a := range v.Questions.Pending.OfCalls() {
		f.asking[a.SessionKey] = true
	}
	return f
}
