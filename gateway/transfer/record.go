package transfer

import (
	"context"
	"encoding/json"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/journal"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// recorder stores a transfer, and its end and its undo in the journal. Only the owner of the job uses
// it.
type recorder struct {
	store Store
	bus   *event.Bus
	// isAwaited means that the call that has started the transfer waits for its end, and reports it.
	isAwaited bool
}

// put stores a changed row, together with what the change means for the entry of the call that has
// started the transfer. A call that waits for the end records that itself.
func (r *recorder) put(ctx context.Context, before, row store.Transfer) error {
	isEnd := row.Over() && row.State != before.State
	var changes []store.CallChange
	var call *protocol.CallInfo // whose entry has changed
	switch {
	case isEnd && !r.isAwaited:
		output, err := outputOf(row.Transfer)
		if err != nil {
			return err
		}
		changes = []store.CallChange{func(c *store.Call) []protocol.AuditEntry {
			call = &c.Info
			return journal.EndTransfer(c, row.Transfer, output)
		}}
	case row.Undone > before.Undone:
		changes = []store.CallChange{func(c *store.Call) []protocol.AuditEntry {
			c.Continued.UndoneAt = time.Now().UnixMilli()
			call = &c.Info
			return nil // the call that undid it has an entry in the audit log
		}}
	}
	if err := r.store.Put(ctx, row, changes...); err != nil {
		return err
	}
	if isEnd {
		r.isAwaited = false // a retry has nobody who waits
	}
	if call != nil {
		r.bus.Publish(protocol.Change{Kind: protocol.ChangeCall, SessionKey: call.SessionKey, Call: call})
	}
	return nil
}

// outputOf returns the result of gsv__Transfer for a transfer that has ended, as the journal stores
// it.
func outputOf(t protocol.Transfer) (json.RawMessage, error) {
	out := protocol.NativeResult{OK: t.State == protocol.TransferDone, Error: t.Error}
	var err error
	if out.Result, err = protocol.Marshal(resultOf(t)); err != nil {
		return nil, err
	}
	return protocol.Marshal(out)
}
