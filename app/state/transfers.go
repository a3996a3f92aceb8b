package state

import (
	"context"
	"fmt"
	"slices"

	"fairlead/gateway/protocol"
)

// Transfers controls transfers and their history. It is safe for concurrent use.
type Transfers struct{ app *App }

// Fetch queues the transfer of a file to a folder of this computer. It blocks.
func (s Transfers) Fetch(ctx context.Context, from protocol.NodeID, file, dir string) (protocol.Transfer, error) {
	return Call(ctx, s.app, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{string(from) + ":" + file}, Destination: protocol.Here + ":" + dir, Into: true})
}

// Send queues a transfer from one machine to a folder of another. It blocks.
func (s Transfers) Send(ctx context.Context, from protocol.NodeID, paths []string, to protocol.NodeID, dir string) (protocol.Transfer, error) {
	sources := Map(paths, func(f string) string { return string(from) + ":" + f })
	return Call(ctx, s.app, protocol.TransferStart, protocol.TransferStartParams{Sources: sources, Destination: string(to) + ":" + dir, Into: true, Later: true})
}

// Control pauses, resumes, cancels or retries a transfer. A failure becomes a notice.
func (s Transfers) Control(m protocol.Method[protocol.TransferParams, protocol.Transfer], id protocol.TransferID) {
	callInBackground(s.app, m, protocol.TransferParams{ID: id})
}

// SendAgain queues a finished transfer again: files that the destination already has are skipped.
func (s Transfers) SendAgain(t protocol.Transfer) {
	callInBackground(s.app, protocol.TransferStart, protocol.TransferStartParams{Sources: t.Sources, Destination: t.Destination, Into: t.Into, Conflict: t.Conflict, Links: t.Links, Later: true})
}

// Undo restores the files that a transfer replaced, and says how many. It blocks.
func (s Transfers) Undo(ctx context.Context, t protocol.Transfer) (string, error) {
	now, err := Call(ctx, s.app, protocol.TransferUndo, protocol.TransferParams{ID: t.ID})
	if err != nil {
		return "", err
	}
	text := Plural(now.Undone-t.Undone, "file restored", "files restored") + "."
	if n := len(now.Problems); n > 0 {
		text += fmt.Sprintf(" %s: %s.", now.Problems[0].Path, now.Problems[0].Text)
		if n > 1 {
			text += " " + Plural(n-1, "more could not be restored", "more could not be restored") + "."
		}
	}
	return text, nil
}

// resumeLocal resumes the transfers of this computer's files over a new connection.
func (s Transfers) resumeLocal(list []protocol.Transfer) {
	for _, t := range list {
		if (t.From == protocol.Here || t.To == protocol.Here) && (t.State == protocol.TransferWaiting || t.State == protocol.TransferQueued) {
			s.app.startRequest(func(ctx context.Context) {
				// the gateway correctly refuses transfers of another window
				Call(ctx, s.app, protocol.TransferResume, protocol.TransferParams{ID: t.ID})
			})
		}
	}
}

// historyPage is the number of finished transfers per request, the gateway's maximum.
const historyPage = 500

// TransferHistory has the newest finished transfers, and the number of all of them.
type TransferHistory struct {
	List  []protocol.Transfer
	Total int
}

// History loads the history. It blocks.
func (s Transfers) History(ctx context.Context) (TransferHistory, error) {
	r, err := Call(ctx, s.app, protocol.TransferList, protocol.TransferListParams{History: true, Limit: historyPage})
	removed := s.app.Value.Get().removed
	list := without(r.Transfers, func(t protocol.Transfer) bool { return removed[t.ID] })
	return TransferHistory{list, max(r.Count-len(removed), len(list))}, err
}

// ClearHistory is [Transfers.Remove] for all transfers that have finished by now. It blocks.
func (s Transfers) ClearHistory(ctx context.Context) (undo func(), err error) {
	var ids []protocol.TransferID
	for {
		r, err := Call(ctx, s.app, protocol.TransferList, protocol.TransferListParams{History: true, Offset: len(ids), Limit: historyPage})
		if err != nil {
			return nil, err
		}
		ids = append(ids, Map(r.Transfers, func(t protocol.Transfer) protocol.TransferID { return t.ID })...)
		if len(r.Transfers) == 0 || len(ids) >= r.Count {
			return s.Remove(ids...), nil
		}
	}
}

// Remove removes transfers with the parts of incomplete files as in [App.deleteLater].
func (s Transfers) Remove(ids ...protocol.TransferID) (undo func()) {
	hide := func(on bool) {
		s.app.Value.Update(func(v *View) {
			v.removed = mapWith(v.removed, true, on, ids...)
			v.HistoryChanged++
		})
	}
	nothing := func(context.Context) error { return nil }
	return s.app.deleteLater(hide, nothing, func(ctx context.Context) error {
		for part := range slices.Chunk(ids, historyPage) {
			if err := send(ctx, s.app, protocol.TransferForget, protocol.TransferForgetParams{IDs: part}); err != nil {
				return err
			}
		}
		return nil
	}, nothing)
}
