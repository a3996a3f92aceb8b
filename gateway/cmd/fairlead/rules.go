package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// with calls the gateway and prints the result: as JSON when requested, otherwise by show.
func with[P, R any](o *options, cmd *cobra.Command, m protocol.Method[P, R], p P, show func(io.Writer, R) error) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		r, err := call(ctx, c, m, p)
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return show(cmd.OutOrStdout(), r)
	})
}

// withBook is with for results that are shown with the names of machines and chats.
func withBook[P, R any](o *options, cmd *cobra.Command, m protocol.Method[P, R], p P, show func(io.Writer, R, nameBook) error) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		r, err := call(ctx, c, m, p)
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return show(cmd.OutOrStdout(), r, c.loadNames(ctx))
	})
}

func approvalsRulesCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rules", Short: "List or change rules", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(o, cmd, protocol.RulesList, protocol.Empty{}, printRules)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "add JSON", Short: "Create a rule", Args: cobra.ExactArgs(1),
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
		Use: "delete ID", Short: "Delete a rule; restore undoes this", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(o, cmd, protocol.RuleDelete, protocol.RuleParams{ID: args[0]}, func(out io.Writer, _ protocol.OK) error {
				_, err := fmt.Fprintf(out, "Deleted. To undo: fairlead approvals rules restore %s\n", args[0])
				return err
			})
		},
	}, &cobra.Command{
		Use: "restore ID", Short: "Restore a deleted rule", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(o, cmd, protocol.RuleRestore, protocol.RuleParams{ID: args[0]}, func(out io.Writer, _ protocol.OK) error {
				_, err := fmt.Fprintln(out, "Restored.")
				return err
			})
		},
	}, rulesTryCommand(o))
	return cmd
}

func rulesTryCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "try JSON", Short: "Show which past calls a rule would have decided differently", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := ruleJSON(args[0])
			if err != nil {
				return err
			}
			return withBook(o, cmd, protocol.RuleTry, protocol.RuleTryParams{Policy: raw}, printRuleTry)
		},
	}
}

func printRuleTry(out io.Writer, r protocol.RuleTryResult, k nameBook) error {
	fmt.Fprintf(out, "It would change %d of the last %s.\n", len(r.Changed), protocol.Plural(r.Looked, "call"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range r.Changed {
		fmt.Fprintf(w, "%s\t%s → %s\t%s\t%s\n", time.UnixMilli(c.Call.RequestedAt).Format(time.DateTime), c.Was, c.Now,
			k.toolAndMachine(c.Call.Node, c.Call.Tool), brief(c.Call.Input))
	}
	return w.Flush()
}

func ruleJSON(text string) (json.RawMessage, error) {
	if !json.Valid([]byte(text)) {
		return nil, &exitError{code: exitUsage, err: errors.New("the rule is not valid JSON")}
	}
	return json.RawMessage(text), nil
}

func printRules(out io.Writer, r protocol.RulesResult) error {
	if len(r.Rules) == 0 {
		fmt.Fprintf(out, "No rules. Default: %s.\n", r.Default)
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, rule := range r.Rules {
		words := rule.Words
		if rule.Problem != "" {
			words += " (disabled: " + rule.Problem + ")"
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
		Use: "export [FILE]", Short: "Write rules and grants to a file or standard output", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.RulesSave, protocol.Empty{})
				if err != nil {
					return err
				}
				data := append([]byte(r.File), '\n')
				if len(args) == 0 || args[0] == "-" {
					_, err = exactOutput(cmd.OutOrStdout()).Write(data)
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
		Use: "import FILE", Short: "Add the rules and grants of a file; - reads standard input", Args: cobra.ExactArgs(1),
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
			data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
			if _, _, err := policy.Parse(data); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return with(o, cmd, protocol.RulesImport, protocol.RulesImportParams{File: data}, func(out io.Writer, r protocol.RulesImportResult) error {
				fmt.Fprintf(out, "%d added, %d already present.\n", r.Added, r.Skipped)
				for _, p := range r.Problems {
					fmt.Fprintf(out, "warning: %s\n", visible(p))
				}
				return nil
			})
		},
	}
}
