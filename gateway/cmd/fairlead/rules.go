package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// with runs a call against the gateway and prints its result: as JSON when asked to, else by show.
func with[P, R any](o *options, cmd *cobra.Command, m protocol.Method[P, R], p P, show func(io.Writer, R) error) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		r, err := client.Call(ctx, c.Client, m, p)
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return show(cmd.OutOrStdout(), r)
	})
}

func approvalsListCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the questions that wait for you", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(o, cmd, protocol.ApprovalList, protocol.Empty{}, func(out io.Writer, r protocol.ApprovalListResult) error {
				if len(r.Approvals) == 0 {
					fmt.Fprintln(out, "Nothing waits for you.")
				}
				for _, a := range r.Approvals {
					fmt.Fprintf(out, "%s  %s\n", a.ID, a.SessionKey)
					fmt.Fprint(out, questionBox(a))
				}
				return nil
			})
		},
	}
}

// approvalsAnswerCommand is allow or deny. A question may be named by the beginning of its id.
func approvalsAnswerCommand(o *options, decision string) *cobra.Command {
	var scope, reason, args string
	var offers []int
	cmd := &cobra.Command{
		Use: decision + " ID", Args: cobra.ExactArgs(1),
		Short: map[string]string{protocol.DecisionAllow: "Allow what a question asks about", protocol.DecisionDeny: "Deny what a question asks about"}[decision],
		RunE: func(cmd *cobra.Command, ids []string) error {
			if args != "" && !json.Valid([]byte(args)) {
				return &exitError{code: exitUsage, err: errors.New("--args is not JSON")}
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				list, err := client.Call(ctx, c.Client, protocol.ApprovalList, protocol.Empty{})
				if err != nil {
					return err
				}
				var found []protocol.Approval
				for _, a := range list.Approvals {
					if strings.HasPrefix(string(a.ID), ids[0]) {
						found = append(found, a)
					}
				}
				switch {
				case len(found) == 0:
					return fmt.Errorf("no open question has the id %s; fairlead approvals list shows them", ids[0])
				case len(found) > 1:
					return &exitError{code: exitUsage, err: fmt.Errorf("%d questions begin with %s; give more of the id", len(found), ids[0])}
				}
				a := found[0]
				r, err := client.Call(ctx, c.Client, protocol.ApprovalAnswer, protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision,
					Scope: scope, Reason: reason, Offers: offers, Args: json.RawMessage(args)})
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), r)
				}
				if !r.Won {
					return fmt.Errorf("too late: the question was %s by %s", r.Approval.State, r.Approval.AnsweredBy)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s.\n", strings.ToUpper(r.Approval.State[:1])+r.Approval.State[1:])
				return nil
			})
		},
	}
	if decision == protocol.DecisionAllow {
		cmd.Flags().StringVar(&scope, "scope", protocol.ScopeOnce, "for what: once, session (this chat), folder, node (this machine) or always; the question says which it offers")
		cmd.Flags().StringVar(&args, "args", "", "other arguments for the call, as JSON; it is checked anew and runs once")
		cmd.Flags().IntSliceVar(&offers, "offer", nil, "numbers of the offered rules to make, from 0; default those that allow exactly what was shown")
	} else {
		cmd.Flags().StringVar(&reason, "reason", "", "why; the agent is told")
	}
	return cmd
}

func approvalsRulesCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rules", Short: "List your rules, or change them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(o, cmd, protocol.RulesList, protocol.Empty{}, printRules)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "add JSON", Short: "Make a rule", Args: cobra.ExactArgs(1),
		Example: `  fairlead approvals rules add '{"tool":"Bash","argv":["git","status","**"],"verdict":"allow"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := ruleJSON(args[0])
			if err != nil {
				return err
			}
			return with(o, cmd, protocol.RulePut, protocol.RulePutParams{Policy: raw}, printRule)
		},
	}, &cobra.Command{
		Use: "set ID JSON", Short: "Change a rule", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := ruleJSON(args[1])
			if err != nil {
				return err
			}
			return with(o, cmd, protocol.RulePut, protocol.RulePutParams{ID: args[0], Policy: raw}, printRule)
		},
	}, &cobra.Command{
		Use: "delete ID", Short: "Delete a rule; restore brings it back", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(o, cmd, protocol.RuleDelete, protocol.RuleParams{ID: args[0]}, func(out io.Writer, _ protocol.OK) error {
				_, err := fmt.Fprintf(out, "Deleted. To take it back: fairlead approvals rules restore %s\n", args[0])
				return err
			})
		},
	}, &cobra.Command{
		Use: "restore ID", Short: "Bring a deleted rule back", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(o, cmd, protocol.RuleRestore, protocol.RuleParams{ID: args[0]}, func(out io.Writer, _ protocol.OK) error {
				_, err := fmt.Fprintln(out, "Restored.")
				return err
			})
		},
	}, &cobra.Command{
		Use: "try JSON", Short: "Show which earlier calls a rule would have decided in another way", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := ruleJSON(args[0])
			if err != nil {
				return err
			}
			return with(o, cmd, protocol.RuleTry, protocol.RuleTryParams{Policy: raw}, func(out io.Writer, r protocol.RuleTryResult) error {
				fmt.Fprintf(out, "Of the last %d calls it would change %d.\n", r.Looked, len(r.Changed))
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				for _, c := range r.Changed {
					fmt.Fprintf(w, "%s\t%s → %s\t%s\t%s\n", time.UnixMilli(c.Call.RequestedAt).Format(time.DateTime), c.Was, c.Now, protocol.NewToolName(c.Call.Node, c.Call.Tool),
						brief(c.Call.Input))
				}
				return w.Flush()
			})
		},
	})
	return cmd
}

func ruleJSON(text string) (json.RawMessage, error) {
	if !json.Valid([]byte(text)) {
		return nil, &exitError{code: exitUsage, err: errors.New("the rule is not JSON")}
	}
	return json.RawMessage(text), nil
}

func printRules(out io.Writer, r protocol.RulesResult) error {
	if len(r.Rules) == 0 {
		fmt.Fprintf(out, "No rules. What none names: %s.\n", r.Default)
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, rule := range r.Rules {
		words := rule.Words
		if rule.Problem != "" {
			words += " (switched off: " + rule.Problem + ")"
		}
		used := "never used"
		if rule.Hits > 0 {
			used = fmt.Sprintf("used %d×, last %s", rule.Hits, time.UnixMilli(rule.LastUsed).Format(time.DateTime))
		}
		if rule.Origin == protocol.RuleFromConfig {
			used = "toolApproval"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", rule.ID, words, used)
	}
	return w.Flush()
}

func printRule(out io.Writer, r protocol.Rule) error {
	_, err := fmt.Fprintf(out, "%s  %s\n", r.ID, r.Words)
	return err
}

func approvalsExportCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "export [FILE]", Short: "Write your rules to a file, or to standard output", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := client.Call(ctx, c.Client, protocol.RulesSave, protocol.Empty{})
				if err != nil {
					return err
				}
				data := append([]byte(r.File), '\n')
				if len(args) == 0 || args[0] == "-" {
					_, err = cmd.OutOrStdout().Write(data)
					return err
				}
				if err := os.WriteFile(args[0], data, 0o600); err != nil {
					return fmt.Errorf("write the rules: %w", err)
				}
				return nil
			})
		},
	}
}

func approvalsImportCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Add the rules of a file; - reads standard input", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var data []byte
			var err error
			if args[0] == "-" {
				data, err = io.ReadAll(cmd.InOrStdin())
			} else {
				data, err = os.ReadFile(args[0])
			}
			if err != nil {
				return fmt.Errorf("read the rules: %w", err)
			}
			if !json.Valid(data) {
				return fmt.Errorf("%s is not JSON", args[0])
			}
			return with(o, cmd, protocol.RulesImport, protocol.RulesImportParams{File: data}, func(out io.Writer, r protocol.RulesImportResult) error {
				fmt.Fprintf(out, "%d added, %d were there already.\n", r.Added, r.Skipped)
				for _, p := range r.Problems {
					fmt.Fprintf(out, "switched off: %s\n", p)
				}
				return nil
			})
		},
	}
}

func auditListCommand(o *options, use string) *cobra.Command {
	var q protocol.AuditListParams
	var since time.Duration
	cmd := &cobra.Command{
		Use: use, Short: "Show who allowed what, when, where, by which rule, with what result", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since > 0 {
				q.After = time.Now().Add(-since).UnixMilli()
			}
			return with(o, cmd, protocol.AuditList, q, printAudit)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", protocol.DefaultJournal, "how many lines, at most 1000")
	f.Int64Var(&q.Before, "before", 0, "only lines with a smaller number")
	f.StringVar((*string)(&q.Node), "node", "", "only of this machine")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only of this chat")
	f.StringVar(&q.Rule, "rule", "", "only of this rule")
	f.StringVar(&q.Kind, "kind", "", "only of this kind: call, mode, \"rule made\", \"rule changed\", \"rule deleted\", \"rule restored\"")
	f.DurationVar(&since, "since", 0, "only of the last while, such as 30m or 24h")
	return cmd
}

func printAudit(out io.Writer, r protocol.AuditListResult) error {
	if len(r.Entries) == 0 {
		fmt.Fprintln(out, "No lines.")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range r.Entries {
		what, where := e.What, ""
		if e.Tool != "" {
			where = string(protocol.NewToolName(e.Node, e.Tool))
		}
		verdict := e.Kind
		if e.Kind == protocol.AuditCall {
			verdict = e.Verdict + ", " + e.State
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Seq, time.UnixMilli(e.At).Format(time.DateTime), verdict, e.By, where, shortLine(what))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.More {
		fmt.Fprintf(out, "There are older ones: --before %d\n", r.Entries[len(r.Entries)-1].Seq)
	}
	return nil
}

func auditCommand(o *options) *cobra.Command {
	cmd := auditListCommand(o, "audit")
	cmd.AddCommand(&cobra.Command{
		Use: "verify", Short: "Check that no line of the audit log was changed or taken out", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := client.Call(ctx, c.Client, protocol.AuditVerify, protocol.Empty{})
				if err != nil {
					return err
				}
				if o.json {
					if err := printJSON(cmd.OutOrStdout(), r); err != nil {
						return err
					}
				}
				if r.Broken > 0 {
					return fmt.Errorf("line %d does not hold: %s", r.Broken, r.Why)
				}
				if !o.json {
					fmt.Fprintf(cmd.OutOrStdout(), "All %d lines hold.\n", r.Lines)
				}
				return nil
			})
		},
	})
	return cmd
}
