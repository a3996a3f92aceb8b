package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func journalCommand(o *options) *cobra.Command {
	var q protocol.JournalListParams
	var since lengthFlag
	cmd := &cobra.Command{
		Use: "journal", Short: "Show the journal of tool calls: who called what, where, and the outcome", Args: cobra.NoArgs,
		Long: `Shows the journal of tool calls, newest first. A call is recorded before it starts. Of files, the journal stores hash and size, not contents.
The outcome of a call is unknown if its machine or the gateway stopped while it ran: check before you repeat it.`,
		Example: `  fairlead journal --state unknown
  fairlead journal --node laptop --effect exec --since 24h --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since > 0 {
				q.After = time.Now().Add(-time.Duration(since)).UnixMilli()
			}
			return withBook(o, cmd, protocol.JournalList, q, printJournal)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", protocol.DefaultJournal, "number of calls, at most 1000")
	f.IntVar(&q.Offset, "offset", 0, "number of newest calls to skip")
	f.StringVar((*string)(&q.Node), "node", "", "only this machine (gsv is the gateway itself)")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only this chat")
	f.StringVar((*string)(&q.RunID), "run", "", "only this run")
	f.StringVar(&q.Tool, "tool", "", "only this tool, such as Bash")
	states := []string{protocol.CallWaiting, protocol.CallRunning, protocol.CallDone, protocol.CallFailed, protocol.CallDenied, protocol.CallCancelled, protocol.CallUnknown}
	f.Var(choiceFlag[string]{&q.State, states}, "state", "only calls in this state: waiting, running, done, failed, denied, cancelled or unknown")
	effects := []protocol.Effect{protocol.EffectRead, protocol.EffectWrite, protocol.EffectExec, protocol.EffectNetwork}
	f.Var(choiceFlag[protocol.Effect]{&q.Effect, effects}, "effect", "only calls with this effect: read, write, exec or network")
	f.Var(&since, "since", "only within this time, such as 30m, 24h or '7 days'")
	return cmd
}

func printJournal(out io.Writer, r protocol.JournalListResult, k nameBook) error {
	if len(r.Calls) == 0 {
		fmt.Fprintln(out, "No calls.")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range r.Calls {
		took := ""
		if c.StartedAt > 0 && c.EndedAt > 0 {
			took = (time.Duration(c.EndedAt-c.StartedAt) * time.Millisecond).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", time.UnixMilli(c.RequestedAt).Format("2006-01-02 15:04:05"), c.Status, k.toolAndMachine(c.Node, c.Tool), took,
			k.principalName(c.Principal, ""), brief(c.Input))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.More {
		fmt.Fprintln(out, "Older calls: use -n and --offset.")
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
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return s
}
