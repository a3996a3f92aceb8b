package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// end writes the end of the call to the journal and publishes it. errText is empty if the result is
// enough.
func (t *task) end(ctx context.Context, state string, raw json.RawMessage, errText string) (Result, error) {
	t.close(state, raw, errText)
	ctx = context.WithoutCancel(ctx)
	if !t.stored {
		// A refused call gets a row too.
		if err := t.put(ctx, t.audit()...); err != nil {
			return Result{}, err
		}
	} else if won, err := t.journal.FinishCall(ctx, entry(t.row), t.audit()...); err != nil {
		if state != protocol.CallDone {
			return Result{}, err
		}
		// The effect has happened. Losing its result would be worse than an open row, which the
		// next start reports as unknown.
		slog.Error("A result could not be stored", "call", t.call.ID, "err", err)
	} else if !won {
		slog.Warn("A call had ended already", "call", t.call.ID)
	}
	t.withdraw(ctx)
	t.show(t.row.Info)
	res := replay(t.row)
	if t.changed {
		res.Content = append(protocol.Content{protocol.Text("The person changed the call before it ran. Its arguments were: " + shorten(string(t.call.Args)))}, res.Content...)
	}
	return res, nil
}

// close sets the end of the call in its row.
func (t *task) close(state string, raw json.RawMessage, errText string) {
	t.row.Info.State, t.row.Info.EndedAt, t.row.Info.Error, t.row.ResultJSON = state, time.Now().UnixMilli(), errText, raw
	t.row.OutputSHA256, t.row.OutputBytes = digest(raw)
	t.over = true
}

// audit returns the call's entry for the audit log. Reads that needed no approval have none.
func (t *task) audit() []protocol.AuditEntry {
	if t.by == "" || t.spec.Effect == protocol.EffectRead && t.verdict.Verdict == policy.Allow && t.verdict.Rule == "" && t.row.Info.ApprovalID == "" {
		return nil
	}
	i := t.row.Info
	return []protocol.AuditEntry{{
		At: i.EndedAt, Kind: protocol.AuditCall, By: t.by, Node: i.Node, SessionKey: i.SessionKey, RunID: i.RunID, CallID: i.CallID,
		Tool: i.Tool, What: gist(t.call.Args), Input: t.row.InputSHA256, Verdict: string(t.verdict.Verdict), Why: t.verdict.Reason, Rule: t.verdict.Rule,
		Approval: i.ApprovalID, State: i.State, ExitCode: i.ExitCode,
	}}
}

// gist returns the most informative argument of a call, in one line of at most 200 characters.
func gist(args json.RawMessage) string {
	var tree map[string]any
	if json.Unmarshal(args, &tree) != nil {
		return ""
	}
	for one, several := range map[string]string{"path": "paths", "source": "sources"} {
		if list, ok := tree[several].([]any); ok && len(list) > 0 && (len(list) > 1 || tree[one] == nil || tree[one] == "") {
			tree[one] = list[0]
			if first, ok := list[0].(string); ok && len(list) > 1 {
				tree[one] = fmt.Sprintf("%s and %d more", first, len(list)-1)
			}
		}
	}
	if from, ok := tree["source"].(string); ok && from != "" {
		if to, ok := tree["destination"].(string); ok {
			tree["source"] = from + " to " + to
		}
	}
	for _, name := range []string{"command", "path", "pattern", "action", "source", "message", "text"} {
		s, ok := tree[name].(string)
		if !ok {
			continue
		}
		s = strings.Join(strings.Fields(s), " ")
		if r := []rune(s); len(r) > 200 {
			s = string(r[:199]) + "…"
		}
		return s
	}
	return ""
}

// put writes the row atomically, even if the context ends, so that the outcome is never in doubt.
func (t *task) put(ctx context.Context, lines ...protocol.AuditEntry) error {
	err := t.journal.PutCall(context.WithoutCancel(ctx), entry(t.row), lines...)
	t.stored = t.stored || err == nil
	return err
}

// maxOutput is the number of bytes of a result that the journal stores. Images are stored whole,
// because a part of one is useless.
const maxOutput = 200_000

// maxActOutput is the same limit for the person's operations in the file browser.
const maxActOutput = 4_000

// contents names the arguments that hold the new content of a file. The journal stores only their
// hash and size.
var contents = map[string]bool{"content": true, "oldString": true, "newString": true, "patch": true, "data": true}

// entry returns a call in the form that the journal stores.
func entry(c store.Call) store.Call {
	c.Info.Args = masked(c.Info)
	if c.Info.Preview != nil {
		p := *c.Info.Preview
		p.Diff = ""
		c.Info.Preview = &p
	}
	if len(c.ResultJSON) > maxActOutput && strings.HasPrefix(c.Info.Tool, protocol.FileAct) {
		// The contents that a person viewed are useless to a later reader.
		if part, err := protocol.Marshal(map[string]any{"truncated": true, "bytes": len(c.ResultJSON)}); err == nil {
			c.ResultJSON, c.Truncated = part, true
		}
	}
	if len(c.ResultJSON) > maxOutput && !bytes.Contains(c.ResultJSON, []byte(`"type":"image"`)) {
		part, err := protocol.Marshal(struct {
			Truncated bool   `json:"truncated"`
			Bytes     int    `json:"bytes"`
			Preview   string `json:"preview"`
		}{true, len(c.ResultJSON), shorten(string(c.ResultJSON))})
		if err == nil {
			c.ResultJSON, c.Truncated = part, true
		}
	}
	return c
}

// writers are the tools of the original system that write. Its nodes declare no effects.
var writers = map[string]bool{"Write": true, "Edit": true}

// masked returns the arguments of a call, for a write without the contents.
func masked(i protocol.CallInfo) json.RawMessage {
	args := i.Args
	writes := i.Effect == protocol.EffectWrite || i.Effect == protocol.EffectUnknown && writers[i.Tool]
	var tree any
	if !writes || json.Unmarshal(args, &tree) != nil {
		return args
	}
	out, err := protocol.Marshal(mask(tree, false))
	if err != nil {
		return args
	}
	return out
}

func mask(v any, content bool) any {
	switch v := v.(type) {
	case string:
		if content {
			sum, size := digest([]byte(v))
			return map[string]any{"sha256": sum, "bytes": size}
		}
	case []any:
		for i := range v {
			v[i] = mask(v[i], content)
		}
	case map[string]any:
		for name := range v {
			v[name] = mask(v[name], contents[name])
		}
	}
	return v
}

// digest returns SHA-256 in hex and the size; for empty data, neither.
func digest(data []byte) (string, int) {
	if len(data) == 0 {
		return "", 0
	}
	sum := sha256.Sum256(data)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:]), len(data)
}

// withdraw cancels the call's approval if it is still pending: an earlier start requested it, and
// it is no longer needed.
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

// idempotencyKey returns a key that is stable over retries and restarts, and differs for other
// arguments. See docs/protocol.md#tools-and-calls.
func idempotencyKey(c Call) (string, error) {
	args, err := approval.Canonical(c.Args)
	if err != nil {
		return "", err
	}
	id := c.ToolCallID
	if id == "" {
		id = string(c.ID)
	}
	var mem [512]byte // large enough for most arguments
	b := mem[:0]
	for _, part := range [...]string{"fairlead", string(c.Run), id, string(c.Tool)} {
		b = append(partHead(b, len(part)), part...)
	}
	b = append(partHead(b, len(args)), args...)
	sum := sha256.Sum256(b)
	key := base32.StdEncoding.AppendEncode(append(mem[:0], "k1:"...), sum[:])
	return string(key[:len("k1:")+32]), nil
}

func partHead(b []byte, size int) []byte { return append(strconv.AppendInt(b, int64(size), 10), ':') }
