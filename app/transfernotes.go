package app

import (
	"strings"
	"time"

	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// transferNote is the prefix of the names of transfer notifications.
const transferNote = "transfer-"

// tellTransfers announces finished transfers: in the window if it has the focus, otherwise by a
// system notification.
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
		if s.pageTitle != transfersTitle { // the transfers page already shows it
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

// seenTransfers withdraws the notifications of transfers.
func (s *shell) seenTransfers() {
	for _, id := range s.notes.news {
		s.notes.n.Remove(id)
	}
	s.notes.news = nil
}

// reviewTransfers opens the transfers page after a click on a notification.
func (s *shell) reviewTransfers(id string) bool {
	if !strings.HasPrefix(id, transferNote) {
		return false
	}
	s.openNamed(transfersTitle)
	return true
}
