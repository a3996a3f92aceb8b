package transfer

import (
	"context"
	"encoding/json"

	"fairlead/gateway/event"
	"fairlead/gateway/journal"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// recorder stores a transfer, and its end in the journal. Only the owner of the job uses it.
type recorder struct {
	store Store
	bus   *event.Bus
	// isAwaited means that the call that has started the transfer waits for its end, and reports it.
	isAwaited bool
}

// put stores a row. The end of the transfer is stored together with that of the call that has started
// it, unless that call waits for the end.
func (r *recorder) put(ctx context.Context, row store.Transfer, isEnd bool) error {
	var ends []store.CallEnd
	var call *protocol.CallInfo // whose entry has changed
	if isEnd && !r.isAwaited {
		output, err := outputOf(row.Transfer)
		if err != nil {
			return err
		}
		ends = []store.CallEnd{func(c *store.Call) []protocol.AuditEntry {
			lines := journal.EndTransfer(c, row.Transfer, output)
			call = &c.Info
			return lines
		}}
	}
	if err := r.store.Put(ctx, row, ends...); err != nil {
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
