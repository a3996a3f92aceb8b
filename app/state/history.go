package state

import (
	"context"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// historyPage is the number of finished transfers per request, the gateway's maximum.
const historyPage = 500

// History returns the newest finished transfers and the number of all of them. It blocks.
func (a *App) History(ctx context.Context) ([]protocol.Transfer, int, error) {
	r, err := Call(ctx, a, protocol.TransferList, protocol.TransferListParams{History: true, Limit: historyPage})
	a.mu.Lock()
	defer a.mu.Unlock()
	list := drop(r.Transfers, func(t protocol.Transfer) bool { return a.removed[t.ID] })
	return list, max(r.Count-len(a.removed), len(list)), err
}

// ClearHistory is [App.RemoveTransfers] for all transfers that have finished by now. It blocks.
func (a *App) ClearHistory(ctx context.Context) (undo func(), err error) {
	var ids []protocol.TransferID
	for {
		r, err := Call(ctx, a, protocol.TransferList, protocol.TransferListParams{History: true, Offset: len(ids), Limit: historyPage})
		if err != nil {
			return nil, err
		}
		for _, t := range r.Transfers {
			ids = append(ids, t.ID)
		}
		if len(r.Transfers) == 0 || len(ids) >= r.Count {
			return a.RemoveTransfers(ids...), nil
		}
	}
}

// RemoveTransfers removes finished transfers from the history. They leave the view at once, but are
// deleted, with the parts of incomplete files, only after UndoTime: until then undo restores them.
// If the program exits earlier, they stay.
func (a *App) RemoveTransfers(ids ...protocol.TransferID) (undo func()) {
	back := make(chan struct{}, 1)
	a.hideTransfers(ids, true)
	a.start(func(ctx context.Context) {
		timer := time.NewTimer(UndoTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			for part := range slices.Chunk(ids, historyPage) {
				if _, err := Call(ctx, a, protocol.TransferForget, protocol.TransferForgetParams{IDs: part}); err != nil {
					a.fail(err)
					break
				}
			}
		case <-back:
		case <-ctx.Done():
		}
		a.hideTransfers(ids, false)
	})
	return func() {
		select {
		case back <- struct{}{}:
		default:
		}
	}
}

func (a *App) hideTransfers(ids []protocol.TransferID, gone bool) {
	a.mu.Lock()
	for _, id := range ids {
		if gone {
			a.removed[id] = true
		} else {
			delete(a.removed, id)
		}
	}
	a.mu.Unlock()
	a.Value.Update(func(v View) View { v.Ended++; return v })
}
