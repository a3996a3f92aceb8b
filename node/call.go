package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// maxResult is the largest size of a result in bytes: with its envelope it must fit into one frame.
const maxResult = protocol.MaxReadFrame - 1<<20

// maxCalls bounds the calls of each program, and of the chats, that run at the same time, and with
// them their memory and open files; further calls wait. Bash and command have their own
// limits, because their calls may take long. Process has no limit, because it ends them.
const maxCalls = 64

var unlimited = map[string]bool{"Bash": true, "Process": true, "command": true, "serve": true}

// event handles an event from the gateway. It does not block.
func (n *Node) event(ctx context.Context, e protocol.EventFrame) {
	if n.ends != nil && n.ends.Event(e.Event, e.Payload) {
		return
	}
	switch e.Event {
	case protocol.EventToolInvoke:
		var inv protocol.ToolInvoke
		if err := n.read(e, &inv); inv.CallID != "" {
			n.invoke(ctx, inv, err)
		}
	case protocol.EventToolCancel:
		var c protocol.ToolCancel
		if n.read(e, &c) == nil {
			n.cancel(c.CallID)
		}
	case protocol.EventFilesUnwatch:
		var u protocol.FilesUnwatchParams
		if n.read(e, &u) == nil {
			n.browse.Unwatch(u.WatchID)
		}
	case protocol.EventTunnelOpen:
		var o protocol.TunnelOpen
		if n.read(e, &o) == nil {
			n.work.Go(func() { n.tunnel.Open(ctx, o.Ticket) })
		}
	case protocol.EventLogsGet:
		var l protocol.LogsGet
		if err := n.read(e, &l); l.CallID != "" {
			n.work.Go(func() { n.logs(l, err) })
		}
	}
}

// read decodes an event. If it is invalid but its call ID can be read, the call is answered with
// the error, so that nobody waits for it.
func (n *Node) read(e protocol.EventFrame, into any) error {
	if err := protocol.Unmarshal(e.Payload, into); err != nil {
		n.log.Warn("Event cannot be read", "name", e.Event, "err", err)
		return fmt.Errorf("The request cannot be read: %w", err) //lint:ignore ST1005 the text goes to the model as it is
	}
	return nil
}

// invoke starts a call, unless it is already running or its result waits for confirmation: a
// gateway may repeat a request after a lost connection. When unread is set, the request was invalid
// and the call fails with it.
func (n *Node) invoke(ctx context.Context, inv protocol.ToolInvoke, unread error) {
	ctx, cancel := context.WithCancel(ctx)
	n.mu.Lock()
	if n.calls[inv.CallID] != nil || n.out.has(inv.CallID) {
		n.mu.Unlock()
		cancel()
		n.out.retryNow()
		return
	}
	n.calls[inv.CallID] = cancel
	n.mu.Unlock()
	n.work.Go(func() {
		defer cancel()
		result := protocol.ToolResultParams{CallID: inv.CallID}
		if unread != nil {
			result.Error = errorText(unread)
		} else {
			result = n.call(ctx, inv)
		}
		result.Warnings = n.jobs.Warnings()
		n.out.add(item{queue: resultKey(inv.CallID), call: inv.CallID, send: func(ctx context.Context) error {
			_, err := client.Call(ctx, n.client, protocol.ReturnResult, result)
			return err
		}})
		n.mu.Lock()
		delete(n.calls, inv.CallID)
		n.mu.Unlock()
	})
}

func (n *Node) cancel(call protocol.CallID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if stop := n.calls[call]; stop != nil {
		stop()
	}
}

// call runs one call and returns its result. Arguments and output are not logged.
func (n *Node) call(ctx context.Context, inv protocol.ToolInvoke) protocol.ToolResultParams {
	began := time.Now()
	log := n.log.With("call", inv.CallID, "tool", inv.Tool, "preview", inv.Preview)
	log.Info("Call arrived")
	raw, err := n.run(ctx, inv)
	took := time.Since(began).Milliseconds()
	if err == nil && len(raw) > maxResult {
		err = protocol.NewFault(protocol.FaultTooLarge, fmt.Sprintf("The result is too large (%d bytes, at most %d). Ask for a part of it.", len(raw), maxResult))
	}
	if err != nil {
		if crash, ok := errors.AsType[*crashError](err); ok {
			log.Error("Tool crashed", "ms", took, "stack", string(crash.stack))
		} else {
			log.Info("Call failed", "ms", took)
		}
		return protocol.ToolResultParams{CallID: inv.CallID, Error: errorText(err), Fault: access.FaultOf(err)}
	}
	log.Info("Call done", "ms", took, "bytes", len(raw))
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	return protocol.ToolResultParams{CallID: inv.CallID, Result: raw}
}

func (n *Node) run(ctx context.Context, inv protocol.ToolInvoke) (raw json.RawMessage, err error) {
	defer func() {
		if recover() != nil {
			raw, err = nil, &crashError{debug.Stack()}
		}
	}()
	if inv.Preview || !unlimited[inv.Tool] {
		release, err := n.running.Take(ctx, inv.Caller)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if strings.HasPrefix(inv.Tool, protocol.FileAct) { // a person's operation in the browser of files
		return n.browse.Call(ctx, inv.Tool, inv.Args)
	}
	t, ok := n.tools[inv.Tool]
	if !ok {
		//lint:ignore ST1005 GSV's text, which its clients match
		return nil, fmt.Errorf("Tool not found: %s", inv.Tool)
	}
	if inv.Preview {
		return preview(ctx, t, inv.Args)
	}
	target, err := n.checkApproval(ctx, t, inv)
	if err != nil {
		return nil, err
	}
	call := access.Call{
		ID: inv.CallID, Caller: inv.Caller, Direct: inv.Direct, Network: inv.Network, Folders: inv.Folders, Lifts: inv.Lifts, Records: inv.Records, Rules: inv.Rules, Target: target, ExpectedSHA256: inv.Expect,
		IdempotencyKey: inv.IdempotencyKey,
	}
	if inv.RunID != "" && (inv.Tool == "Write" || inv.Tool == "Edit") {
		call.Backup = n.browse.Backup(inv.CallID, inv.SessionKey, inv.RunID)
	}
	latest := make(chan protocol.ToolProgress, 1)
	reported := make(chan struct{})
	crash.Go(func() {
		defer close(reported)
		n.sendProgress(ctx, latest)
	})
	defer func() {
		close(latest)
		<-reported
	}()
	if n.client != nil {
		call.Chunk = func(ctx context.Context, chunk json.RawMessage) error {
			ack, err := client.Call(ctx, n.client, protocol.ReportProgress, protocol.ToolProgress{CallID: inv.CallID, Chunk: chunk})
			if err == nil && ack.Dropped {
				err = errUnread
			}
			return err
		}
	}
	call.Progress = func(tail string, bytes int64) {
		select {
		case <-latest: // discard a report that is outdated and not sent yet
		default:
		}
		latest <- protocol.ToolProgress{CallID: inv.CallID, Tail: tail, Bytes: bytes}
	}
	return t.Call(ctx, call, inv.Args)
}

// errUnread means that nobody waits for the call any more.
var errUnread = errors.New("nobody reads the result any more")

// progressLimit is how long a progress report may wait for its confirmation, because the call's
// result waits for it.
const progressLimit = 2 * time.Second

// sendProgress sends the progress of a running call until latest is closed. A lost report is not
// sent again.
func (n *Node) sendProgress(ctx context.Context, latest <-chan protocol.ToolProgress) {
	for p := range latest {
		if n.client == nil {
			continue // Run has not been called yet: there is no connection
		}
		sending, cancel := context.WithTimeout(ctx, progressLimit)
		client.Call(sending, n.client, protocol.ReportProgress, p)
		cancel()
	}
}

func (n *Node) logs(l protocol.LogsGet, unread error) {
	n.log.Info("Log requested", "lines", l.Lines)
	answer := protocol.LogsResultParams{CallID: l.CallID}
	if unread != nil {
		answer.Error = errorText(unread)
	} else if n.file == nil {
		answer.Error = "This node has no log."
	} else if lines, truncated, err := n.file.Last(min(max(l.Lines, 1), protocol.MaxLogLines)); err != nil {
		answer.Error = errorText(err)
	} else {
		answer.Lines, answer.Truncated = lines, truncated
	}
	n.out.add(item{queue: resultKey(l.CallID), call: l.CallID, send: func(ctx context.Context) error {
		_, err := client.Call(ctx, n.client, protocol.ReturnLogs, answer)
		return err
	}})
}

// checkApproval compares the call with what the person saw and allowed: machine, tool, arguments,
// folder, programs, the file and its change. It returns the path that the path of a file tool leads
// to, which the call must not leave. target is empty when nothing was compared, or when the call
// fails anyway.
func (n *Node) checkApproval(ctx context.Context, t toolkit.Tool[access.Call], inv protocol.ToolInvoke) (target string, err error) {
	if inv.Approved == "" && len(inv.Folders) == 0 {
		return "", nil
	}
	p, _, err := describe(ctx, t, inv.Args)
	if err != nil {
		return "", err
	}
	if p.Problem == "" {
		target = p.Path
	}
	now, err := protocol.CallHash(protocol.AskCall, n.opts.ID, inv.Tool, inv.Args, &p, inv.Policy, inv.Folders...)
	switch {
	case err != nil:
		return "", err
	case now == inv.Approved && allNeeded(inv.Folders, p.Folders):
		return target, nil
	case inv.Expect != "" && p.FileSHA256 != inv.Expect:
		return "", &access.ChangedError{Text: workspace.ErrChanged.Error(), Observed: p.FileSHA256}
	}
	//lint:ignore ST1005 the text goes to the model as it is
	return "", errors.New("APPROVAL_DRIFT: this call differs from the one that was approved. Nothing was run; ask again.")
}

// allNeeded reports whether the call needs each of the opened folders, with the same rights.
func allNeeded(opened, needed []protocol.FolderAccess) bool {
	return !slices.ContainsFunc(opened, func(f protocol.FolderAccess) bool { return !slices.Contains(needed, f) })
}

// preview returns null for a tool that has no preview.
func preview(ctx context.Context, t toolkit.Tool[access.Call], args json.RawMessage) (json.RawMessage, error) {
	p, ok, err := describe(ctx, t, args)
	if err != nil {
		return nil, err
	}
	if !ok {
		return json.RawMessage("null"), nil
	}
	return protocol.Marshal(p)
}
