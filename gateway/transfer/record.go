package transfer

import (
	"context"
	"encoding/json"

	"fairlead/gateway/journal"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// storeRow stores a row. The end of the transfer is stored together with that of the call that has
// started it, unless that call waits for the end and reports it.
func (j *job) storeRow(row store.Transfer, isEnd bool) error {
	var ends []store.CallEnd
	var call *protocol.CallInfo // whose entry has changed
	if isEnd && !j.isAwaited {
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
	if err := j.services.store.Put(context.WithoutCancel(j.services.queue.ctx), row, ends...); err != nil {
		return err
	}
	if isEnd {
		j.isAwaited = false // a retry has nobody who waits
	}
	if call != nil {
		j.services.bus.Publish(protocol.Change{Kind: protocol.ChangeCall, SessionKey: call.SessionKey, Call: call})
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
