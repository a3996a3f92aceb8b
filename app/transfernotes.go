package app

import (
	"strings"
	"time"

	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// transferNote begins the names of notifications of transfers.
const transferNote = "transfer-"

// tellTransfers tells of transfers that have ended: in the window while it has the keyboard, else by the system.
func (s *shell) tellTransfers(v state.View) {
	if s.notes.ended == nil {
		s.notes.ended = make(map[protocol.TransferID]int64)
	}
	ended := make(map[protocol.TransferID]int64)
	var fresh []protocol.Transfer
	for _, t := range state.TransferNews(v) {
		if ended[t.ID] = t.EndedAt; s.notes.ended[t.ID] != t.EndedAt {
			fresh = append(fresh, t)
		}
	}
	s.notes.ended = ended
	if len(fresh) == 0 {
		return
	}
	now := time.Now()
	if s.notes.front {
		title, text := state.TransferEnds(fresh)
		if len(fresh) == 1 {
			title, text = state.TransferEnd(v, fresh[0], now)
		}
		if s.pageTitle != transfersTitle { // where it is seen
			s.say(title + ": " + text)
		}
		return
	}
	if s.notes.n == nil {
		return
	}
	if len(fresh) > maxNotes {
		title, text := state.TransferEnds(fresh)
		s.tellTransfer(notify.Message{ID: transferNote + manyNote, Title: title, Body: text, News: true})
		return
	}
	for _, t := range fresh {
		title, text := state.TransferEnd(v, t, now)
		s.tellTransfer(notify.Message{ID: transferNote + string(t.ID), Title: title, Body: text, News: true})
	}
}

func (s *shell) tellTransfer(m notify.Message) {
	s.notes.n.Show(m)
	s.notes.news = append(s.notes.news, m.ID)
}

// seenTransfers takes back what the system tells of transfers.
func (s *shell) seenTransfers() {
	for _, id := range s.notes.news {
		s.notes.n.Remove(id)
	}
	s.notes.news = nil
}

// reviewTransfers shows the transfers when a notification of one was clicked.
func (s *shell) reviewTransfers(id string) bool {
	if !strings.HasPrefix(id, transferNote) {
		return false
	}
	s.openNamed(transfersTitle)
	return true
}
