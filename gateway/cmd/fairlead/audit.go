package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func auditListCommand(o *options, use string) *cobra.Command {
	var q protocol.AuditListParams
	var since lengthFlag
	cmd := &cobra.Command{
		Use: use, Short: "Show the audit log: who allowed what, when, where, by which rule, and the result", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since > 0 {
				q.After = time.Now().Add(-time.Duration(since)).UnixMilli()
			}
			return withBook(o, cmd, protocol.AuditList, q, printAudit)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", protocol.DefaultJournal, "number of entries, at most 1000")
	f.Int64Var(&q.Before, "before", 0, "only entries with a smaller number")
	f.StringVar((*string)(&q.Node), "node", "", "only this machine")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only this chat")
	f.StringVar(&q.Rule, "rule", "", "only this rule")
	f.StringVar(&q.Kind, "kind", "", "only entries of this kind: call, mode, device, sender, login, \"rule made\", \"rule changed\", \"rule deleted\", \"rule restored\"")
	f.StringVar(&q.Query, "search", "", "only entries that contain these words or words that start with them")
	f.Var(&since, "since", "only within this time, such as 30m, 24h or '7 days'")
	return cmd
}

func printAudit(out io.Writer, r protocol.AuditListResult, k nameBook) error {
	if len(r.Entries) == 0 {
		fmt.Fprintln(out, "No entries.")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range r.Entries {
		verdict := e.Kind
		if e.Kind == protocol.AuditCall {
			verdict = e.Verdict + ", " + e.State
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Seq, time.UnixMilli(e.At).Format(time.DateTime), verdict, k.principalName(e.By, e.Why), k.toolAndMachine(e.Node, e.Tool), shortLine(e.What))
		if e.Approval != "" && e.Kind == protocol.AuditRuleMade {
			fmt.Fprintf(w, "\t\t\tto undo: fairlead approvals undo %s\t\t\n", e.Approval)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.More {
		fmt.Fprintf(out, "Older entries: --before %d\n", r.Entries[len(r.Entries)-1].Seq)
	}
	return nil
}

func auditCommand(o *options) *cobra.Command {
	cmd := auditListCommand(o, "audit")
	cmd.AddCommand(&cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed or removed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.AuditVerify, protocol.Empty{})
				if err != nil {
					return err
				}
				if o.json {
					if err := printJSON(cmd.OutOrStdout(), r); err != nil {
						return err
					}
				}
				if r.Broken > 0 {
					return fmt.Errorf("entry %d fails verification: %s", r.Broken, r.Why)
				}
				if !o.json {
					fmt.Fprintf(cmd.OutOrStdout(), "All %d entries verified.\n", r.Lines)
				}
				return nil
			})
		},
	})
	return cmd
}
