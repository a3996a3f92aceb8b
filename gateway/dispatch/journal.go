package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/protocol"
)

// end writes the call's end into the journal and tells everyone. errText is empty when the result speaks for itself.
func (t *task) end(ctx context.Context, state string, raw json.RawMessage, errText string) (Result, error) {
	t.row.Info.State, t.row.Info.EndedAt, t.row.Info.Error, t.row.ResultJSON = state, time.Now().UnixMilli(), errText, raw
	t.over = true
	ctx = context.WithoutCancel(ctx)
	if !t.stored {
		// A refusal is worth a row too.
		if err := t.put(ctx); err != nil {
			return Result{}, err
		}
	} else if won, err := t.journal.FinishCall(ctx, t.row); err != nil {
		if state != protocol.CallDone {
			return Result{}, err
		}
		// The effect has happened; losing its result would be worse than an open row, which the next start reports as unknown.
		slog.Error("A result could not be stored", "call", t.call.ID, "err", err)
	} else if !won {
		slog.Warn("A call had ended already", "call", t.call.ID)
	}
	t.withdraw(ctx)
	t.show(t.row.Info)
	return replay(t.row), nil
}

// put writes the row, whole or not at all: a context that ends does not make the outcome doubtful.
func (t *task) put(ctx context.Context) error {
	err := t.journal.PutCall(context.WithoutCancel(ctx), t.row)
	t.stored = t.stored || err == nil
	return err
}

// withdraw takes the call's question back if it is still open: an earlier start asked it, and it is no longer needed.
func (t *task) withdraw(ctx context.Context) {
	id := t.row.Info.ApprovalID
	if id == "" {
		return
	}
	ctx = context.WithoutCancel(ctx)
	q, err := t.journal.Approval(ctx, id)
	if err != nil || q.State != protocol.ApprovalPending {
		return
	}
	q.State, q.AnsweredBy, q.AnsweredAt = protocol.ApprovalCancelled, "its call", time.Now().UnixMilli()
	if won, err := t.journal.CloseApproval(ctx, q); err != nil || !won {
		return
	}
	t.bus.Publish(protocol.Change{Kind: protocol.ChangeApproval, SessionKey: q.SessionKey, Approval: &q})
}

// idempotencyKey is stable over attempts and restarts, and another for other arguments (sandbox notes 5.4).
func idempotencyKey(c Call) (string, error) {
	args, err := approval.Canonical(c.Args)
	if err != nil {
		return "", err
	}
	id := c.ToolCallID
	if id == "" {
		id = string(c.ID)
	}
	h := sha256.New()
	for _, part := range []string{"fairlead", string(c.Run), id, string(c.Tool), string(args)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "k1:" + base32.StdEncoding.EncodeToString(h.Sum(nil))[:32], nil
}
