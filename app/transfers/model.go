package transfers

import (
	"context"
	"slices"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Model controls transfers and their history. It is safe for concurrent use.
type Model struct{ feed *feed.Feed }

// Control pauses, resumes, cancels or retries a transfer. A failure becomes a notice.
func (s Model) Control(m protocol.Method[protocol.TransferParams, protocol.Transfer], id protocol.TransferID) {
	feed.Start(s.feed, m, protocol.TransferParams{ID: id})
}

// SendAgain queues a finished transfer again: files that the destination already has are skipped.
func (s Model) SendAgain(t protocol.Transfer) {
	feed.Start(s.feed, protocol.TransferStart, protocol.TransferStartParams{Sources: t.Sources, Destination: t.Destination, Into: t.Into, Conflict: t.Conflict, Links: t.Links, Later: true})
}

// Undo restores the files that a transfer replaced, and says how many. It blocks.
func (s Model) Undo(ctx context.Context, t protocol.Transfer) (string, error) {
	now, err := feed.Call(ctx, s.feed, protocol.TransferUndo, protocol.TransferParams{ID: t.ID})
	if err != nil {
		return "", err
	}
	return restoredText(now.Undone-t.Undone, now.Problems), nil
}

// historyPage is the number of finished transfers per request, the gateway's maximum.
const historyPage = 500

// History has the newest finished transfers, and the number of all of them.
type History struct {
	List  []protocol.Transfer
	Total int
}

// History loads the history. It blocks.
func (s Model) History(ctx context.Context) (History, error) {
	r, err := feed.Call(ctx, s.feed, protocol.TransferList, protocol.TransferListParams{History: true, Limit: historyPage})
	removed := s.feed.Transfers.Get().Removed
	list := lists.Without(r.Transfers, func(t protocol.Transfer) bool { return removed[t.ID] })
	return History{list, max(r.Count-len(removed), len(list))}, err
}

// ClearHistory is [Model.Remove] for all transfers that have finished by now. It blocks.
func (s Model) ClearHistory(ctx context.Context) (undo func(), err error) {
	var ids []protocol.TransferID
	for {
		r, err := feed.Call(ctx, s.feed, protocol.TransferList, protocol.TransferListParams{History: true, Offset: len(ids), Limit: historyPage})
		if err != nil {
			return nil, err
		}
		ids = append(ids, lists.Map(r.Transfers, func(t protocol.Transfer) protocol.TransferID { return t.ID })...)
		if len(r.Transfers) == 0 || len(ids) >= r.Count {
			return s.Remove(ids...), nil
		}
	}
}

// Remove removes transfers with the parts of incomplete files as in [feed.Tasks.DeleteLater].
func (s Model) Remove(ids ...protocol.TransferID) (undo func()) {
	hide := func(on bool) {
		s.feed.Update(func(v *feed.View) {
			v.Transfers.Removed = lists.MapWith(v.Transfers.Removed, true, on, ids...)
			v.Changed.History++
		}, s.feed.Transfers, s.feed.Changed)
	}
	return s.feed.Tasks.DeleteLater(hide, feed.DoNothing, func(ctx context.Context) error {
		for part := range slices.Chunk(ids, historyPage) {
			if err := feed.Send(ctx, s.feed, protocol.TransferForget, protocol.TransferForgetParams{IDs: part}); err != nil {
				return err
			}
		}
		return nil
	}, feed.DoNothing)
}
