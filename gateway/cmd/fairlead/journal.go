package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

func journalCommand(o *options) *cobra.Command {
	var q protocol.JournalListParams
	params := func([]string) (protocol.JournalListParams, error) { return q, nil }
	cmd := command("journal", "Show the journal of tool calls: who called what, where, and the outcome", cobra.NoArgs,
		onMethodWithNames(o, protocol.JournalList, params, printJournal))
	cmd.Long = `Shows the journal of tool calls, newest first. A call is recorded before it starts. For files, the journal stores the hash and size, not the contents.
The outcome of a call is unknown if its machine or the gateway stopped while it ran: check before you repeat it.`
	cmd.Example = `  fairlead journal --state unknown
  fairlead journal --node laptop --effect exec --since 24h --json`
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", protocol.DefaultJournal, "number of calls, at most 1000")
	f.IntVar(&q.Offset, "offset", 0, "number of newest calls to skip")
	f.StringVar((*string)(&q.Node), "node", "", "only this machine; gsv means the gateway's own tools")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only this chat")
	f.StringVar((*string)(&q.RunID), "run", "", "only this run")
	f.StringVar((*string)(&q.App), "app", "", "only calls of this connected app, by its ID")
	f.StringVar(&q.Tool, "tool", "", "only this tool, such as Bash")
	states := []string{protocol.CallWaiting, protocol.CallRunning, protocol.CallDone, protocol.CallFailed, protocol.CallDenied, protocol.CallCancelled, protocol.CallUnknown}
	f.Var(choiceFlag[string]{&q.State, states}, "state", "only calls in this state: waiting, running, done, failed, denied, cancelled or unknown")
	effects := []protocol.Effect{protocol.EffectRead, protocol.EffectWrite, protocol.EffectExec, protocol.EffectNetwork}
	f.Var(choiceFlag[protocol.Effect]{&q.Effect, effects}, "effect", "only calls with this effect: read, write, exec or network")
	addSinceFlag(f, &q.After)
	return cmd
}

func printJournal(out io.Writer, r protocol.JournalListResult, k nameBook) error {
	var t table
	for _, c := range r.Calls {
		took := ""
		if c.StartedAt > 0 && c.EndedAt > 0 {
			took = (time.Duration(c.EndedAt-c.StartedAt) * time.Millisecond).String()
		}
		t.row(timeText(c.RequestedAt), c.Status, k.toolAndMachine(c.Node, c.Tool), took, k.principalName(c.Principal, ""), undoMark(c)+brief(c.Input)+continuationText(c.Continued))
	}
	err := t.print(out, "No calls.")
	if r.More {
		fmt.Fprintln(out, "Older calls: use -n and --offset.")
	}
	return err
}

// undoMark says before the arguments of a call that it undid what a call with them did.
func undoMark(c protocol.JournalEntry) string {
	if c.Undo {
		return "undo of "
	}
	return ""
}

// continuationText says what passed after a call; empty if nothing did.
func continuationText(c *protocol.Continuation) string {
	if c == nil {
		return ""
	}
	text := ""
	if c.Steps > 0 {
		text = fmt.Sprintf(", then %s in %s", format.Size(c.Bytes), format.Plural(c.Steps, "step"))
	}
	if n := len(c.Judged); n > 0 {
		text += fmt.Sprintf(", checked again: %s (%s)", c.Judged[n-1].Verdict, c.Judged[n-1].Why)
	}
	if e := c.Ended; e != nil {
		text += ", then " + e.State
		if e.Error != "" {
			text += ": " + shortLine(e.Error)
		}
	}
	if c.UndoneAt > 0 {
		text += ", then undone"
	}
	return text
}

func auditCommand(o *options) *cobra.Command {
	var q protocol.AuditListParams
	params := func([]string) (protocol.AuditListParams, error) { return q, nil }
	cmd := command("audit", "Show the audit log: who allowed what, when, where, by which rule, and the result", cobra.NoArgs,
		onMethodWithNames(o, protocol.AuditList, params, printAudit))
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", protocol.DefaultJournal, "number of entries, at most 1000")
	f.Int64Var(&q.Before, "before", 0, "only entries with a smaller number")
	f.StringVar((*string)(&q.Node), "node", "", "only this machine")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only this chat")
	f.StringVar(&q.Rule, "rule", "", "only this rule")
	f.StringVar(&q.Kind, "kind", "", `only entries of this kind: call, mode, device, sender, login, "rule made", "rule changed", "rule deleted", "rule restored", "permission withdrawn", "permission restored"`)
	f.StringVar(&q.Query, "search", "", "only entries that contain these words or words that start with them")
	addSinceFlag(f, &q.After)
	cmd.AddCommand(command("verify", "Check that no entry of the audit log was changed or removed", cobra.NoArgs, o.onGateway(verifyAudit)))
	return cmd
}

func printAudit(out io.Writer, r protocol.AuditListResult, k nameBook) error {
	var t table
	for _, e := range r.Entries {
		title, outcome := display.AuditLine(e, display.Names{Machine: k.machines.of, Chat: k.chatName})
		t.row(strconv.FormatInt(e.Seq, 10), timeText(e.At), format.Clip(flat(title), 120), flat(outcome))
		if e.Approval != "" && e.Kind == protocol.AuditRuleMade {
			t.row("", "", "to undo: fairlead approvals undo "+string(e.Approval), "")
		}
	}
	err := t.print(out, "No entries.")
	if r.More && len(r.Entries) > 0 {
		fmt.Fprintf(out, "Older entries: --before %d\n", r.Entries[len(r.Entries)-1].Seq)
	}
	return err
}

func verifyAudit(ctx context.Context, c *connection, _ []string) error {
	r, err := call(ctx, c, protocol.AuditVerify, protocol.Empty{})
	if err := show(c, r, err, nil); err != nil {
		return err
	}
	if r.Broken > 0 {
		return fmt.Errorf("entry %d fails verification: %s", r.Broken, r.Why)
	}
	if !c.json {
		fmt.Fprintf(c.out, "All %d entries verified.\n", r.Lines)
	}
	return nil
}

// brief returns the most informative argument, in one line.
func brief(input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, name := range []string{"command", "path", "pattern", "action", "source", "message", "text"} {
		if s, ok := args[name].(string); ok {
			return shortLine(s)
		}
	}
	return ""
}

func shortLine(s string) string {
	return format.Clip(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), ""), 80)
}
