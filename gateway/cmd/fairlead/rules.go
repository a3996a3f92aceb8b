package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

func approvalsRulesCommand(o *options) *cobra.Command {
	put := func(args []string) (p protocol.RulePutParams, err error) {
		if len(args) > 1 {
			p.ID = args[0]
		}
		p.Policy, err = ruleJSON(args[len(args)-1])
		return p, err
	}
	rule := func(args []string) (protocol.RuleParams, error) { return protocol.RuleParams{ID: args[0]}, nil }
	try := func(args []string) (p protocol.RuleTryParams, err error) {
		p.Policy, err = ruleJSON(args[0])
		return p, err
	}
	add := command("add JSON", "Create a rule", cobra.ExactArgs(1), onMethod(o, protocol.RulePut, put, printRule))
	add.Example = `  fairlead approvals rules add '{"tool":"Bash","argv":["git","status","**"],"verdict":"allow"}'`
	remove := command("delete ID", "Delete a rule; restore undoes this", cobra.ExactArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			p := protocol.RuleParams{ID: args[0]}
			return showCall(ctx, c, protocol.RuleDelete, p, func(out io.Writer, _ protocol.OK) error {
				return printf(out, "Deleted. To undo: fairlead approvals rules restore %s\n", args[0])
			})
		}))
	restore := onMethod(o, protocol.RuleRestore, rule, func(out io.Writer, _ protocol.OK) error {
		return printf(out, "Restored.\n")
	})
	cmd := command("rules", "List or change rules", cobra.NoArgs, onMethod(o, protocol.RulesList, nil, printRules))
	cmd.AddCommand(add, command("set ID JSON", "Change a rule", cobra.ExactArgs(2), onMethod(o, protocol.RulePut, put, printRule)),
		remove, command("restore ID", "Restore a deleted rule", cobra.ExactArgs(1), restore),
		command("try JSON", "Show which past calls a rule would have decided differently", cobra.ExactArgs(1),
			onMethodWithNames(o, protocol.RuleTry, try, printRuleTry)))
	return cmd
}

func printRuleTry(out io.Writer, r protocol.RuleTryResult, k nameBook) error {
	fmt.Fprintf(out, "It would change %d of the last %s.\n", len(r.Changed), format.Plural(r.Looked, "call"))
	var t table
	for _, c := range r.Changed {
		t.row(timeText(c.Call.RequestedAt), c.Was+" → "+c.Now, k.toolAndMachine(c.Call.Node, c.Call.Tool), brief(c.Call.Input))
	}
	for _, c := range r.Unmatched {
		t.row(timeText(c.RequestedAt), "not covered", k.toolAndMachine(c.Node, c.Tool), brief(c.Input))
	}
	return t.print(out, "")
}

func ruleJSON(text string) (json.RawMessage, error) {
	if !json.Valid([]byte(text)) {
		return nil, usageError("the rule is not valid JSON")
	}
	return json.RawMessage(text), nil
}

func printRules(out io.Writer, r protocol.RulesResult) error {
	var t table
	for _, rule := range r.Rules {
		words := rule.Words
		if rule.Problem != "" {
			words += " (disabled: " + rule.Problem + ")"
		}
		used := "never used"
		if rule.Hits > 0 {
			used = fmt.Sprintf("used %d×, last %s", rule.Hits, timeText(rule.LastUsed))
		}
		if rule.Origin == protocol.RuleFromConfig {
			used = "toolApproval"
		}
		t.row(rule.ID, words, used)
	}
	return t.print(out, fmt.Sprintf("No rules. Default: %s.", r.Default))
}

func printRule(out io.Writer, r protocol.Rule) error {
	return printf(out, "%s  %s\n", r.ID, r.Words)
}

func approvalsExportCommand(o *options) *cobra.Command {
	return command("export [FILE]", "Write rules and grants to a file or standard output", cobra.MaximumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			r, err := call(ctx, c, protocol.RulesSave, protocol.Empty{})
			if err != nil {
				return err
			}
			data := append([]byte(r.File), '\n')
			if len(args) == 0 || args[0] == "-" {
				_, err = exactOutput(c.out).Write(data)
				return err
			}
			if err := os.WriteFile(args[0], data, 0o600); err != nil {
				return fmt.Errorf("write the rules: %w", err)
			}
			return nil
		}))
}

func approvalsImportCommand(o *options) *cobra.Command {
	return command("import FILE", "Add the rules and grants of a file; - reads standard input", cobra.ExactArgs(1),
		func(cmd *cobra.Command, args []string) error {
			data, _, _, err := readRules(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
				p := protocol.RulesImportParams{File: data}
				return showCall(ctx, c, protocol.RulesImport, p, func(out io.Writer, r protocol.RulesImportResult) error {
					fmt.Fprintf(out, "%d added, %d already present.\n", r.Added, r.Skipped)
					for _, p := range r.Problems {
						fmt.Fprintf(out, "warning: %s\n", visible(p))
					}
					return nil
				})
			})
		})
}

// judgement is the JSON output of approvals test.
type judgement struct {
	policy.Decision
	Shell    string           `json:"shell"`
	Cwd      string           `json:"cwd"`
	Warnings []policy.Problem `json:"warnings,omitempty"`
}

func approvalsTestCommand(o *options) *cobra.Command {
	var file, cwd, command, shell, node, session string
	cmd := &cobra.Command{
		Use:   "test --policy FILE --cwd DIR --command STRING",
		Short: "Show what a rules file decides about a command, without running it",
		Long: `Shows what the rules in FILE decide about a command, without a gateway and without running it. Prints the verdict (allow, ask or deny), then
every part of the command with its verdict and the rule or reason for it. FILE is what "approvals export" writes; "-" reads it from
standard input.

The exit code is 0 for every verdict and 1 when the rules cannot be read.`,
		Example: `  fairlead approvals test --policy rules.json --cwd . --command 'git status && rm -rf build'`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"policy", "cwd", "command"} {
				switch flag := cmd.Flags().Lookup(name); {
				case !flag.Changed:
					return usageError("--%s is missing\nUsage: %s", name, cmd.UseLine())
				case name != "command" && flag.Value.String() == "":
					return usageError("--%s is empty\nUsage: %s", name, cmd.UseLine())
				}
			}
			r, err := o.judge(cmd.InOrStdin(), file, cwd, policy.Call{
				Tool: "Bash", Shell: shell, Command: command, Node: protocol.NodeID(node), Session: protocol.SessionKey(session),
			})
			if err != nil {
				return err
			}
			if o.json {
				return printJSON(cmd.OutOrStdout(), r)
			}
			for _, w := range r.Warnings {
				if w.Rule != "" {
					w.Reason = w.Rule + ": " + w.Reason
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "fairlead: warning: %s\n", w.Reason)
			}
			printJudgement(cmd.OutOrStdout(), r)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "policy", "", "file with the rules")
	f.StringVar(&cwd, "cwd", "", "folder in which the command would run")
	f.StringVar(&command, "command", "", "command to judge")
	f.StringVar(&shell, "shell", "bash", "shell that would run it: bash, sh, zsh, cmd, powershell or another")
	f.StringVar(&node, "node", "", "machine that would run it")
	f.StringVar(&session, "session", "", "chat for which it would run")
	return cmd
}

// judge decides about a call by the rules in file, in the folder cwd of this machine or of another.
func (o *options) judge(in io.Reader, file, cwd string, call policy.Call) (judgement, error) {
	_, set, warnings, err := readRules(in, file)
	if err != nil {
		return judgement{}, err
	}
	dir, err := filepath.Abs(cwd)
	if err != nil {
		return judgement{}, fmt.Errorf("find the folder %s: %w", cwd, err)
	}
	home, _ := os.UserHomeDir() // without one, accesses to it need approval
	call.Cwd, call.Home = dir, home
	if own, err := o.homeDir(); err == nil {
		call.Own = []string{own}
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		call.Resolve, call.Aliases = resolveLinks, workspace.Aliases(append(set.Folders(), home, dir)...)
	}
	return judgement{Decision: set.Decide(call), Shell: call.Shell, Cwd: dir, Warnings: warnings}, nil
}

// readInput reads a file; - is standard input.
func readInput(in io.Reader, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(file)
}

// readRules reads a rules file, without the byte order mark that some editors add.
func readRules(in io.Reader, file string) (data []byte, set *policy.Set, warnings []policy.Problem, err error) {
	if data, err = readInput(in, file); err != nil {
		return nil, nil, nil, fmt.Errorf("read the rules: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if set, warnings, err = policy.Parse(data); err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return data, set, warnings, err
}

// resolveLinks follows the links in a path; the part that does not exist is appended.
func resolveLinks(path string) (string, error) {
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("the link %s points to nothing", path)
		}
		dir := filepath.Dir(path)
		if dir == path {
			return filepath.Join(path, rest), nil
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = dir
	}
}

func printJudgement(w io.Writer, r judgement) {
	fmt.Fprintf(w, "%s: %s\n", r.Verdict, visible(r.Reason))
	for _, p := range r.Parts {
		text := visible(p.Text)
		if p.Kind == "finding" && text == "" {
			text = "(the whole command)"
		}
		if p.Origin != "" {
			text += "  (" + p.Origin + ")"
		}
		fmt.Fprintf(w, "  %-5s  %-10s  %s\n", p.Verdict, p.Kind, text)
		why := visible(p.Reason)
		if p.Rule != "" && !strings.Contains(why, p.Rule) {
			why = p.Rule + ": " + why
		}
		fmt.Fprintf(w, "         %s\n", why)
	}
	if files := r.Files(); files != "" {
		fmt.Fprintf(w, "  %s\n", visible(files))
	}
	for _, o := range r.Offers {
		fmt.Fprintf(w, "  possible rule: allow %s\n", visible(o.Text))
	}
}
