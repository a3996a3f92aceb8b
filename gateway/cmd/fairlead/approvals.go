package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

func approvalsCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "approvals", Short: "Answer pending approvals and manage rules"}
	cmd.AddCommand(approvalsListCommand(o), approvalsAnswerCommand(o, protocol.DecisionAllow), approvalsAnswerCommand(o, protocol.DecisionDeny),
		approvalsLaterCommand(o), approvalsUndoCommand(o), approvalsRulesCommand(o), approvalsExportCommand(o), approvalsImportCommand(o), auditCommand(o), approvalsTestCommand(o))
	return cmd
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
				if !cmd.Flags().Changed(name) {
					return &exitError{code: exitUsage, err: fmt.Errorf("--%s is missing\nUsage: %s", name, cmd.UseLine())}
				}
			}
			for name, value := range map[string]string{"policy": file, "cwd": cwd} {
				if value == "" {
					return &exitError{code: exitUsage, err: fmt.Errorf("--%s is empty\nUsage: %s", name, cmd.UseLine())}
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
				fmt.Fprintf(cmd.ErrOrStderr(), "fairlead: warning: %s\n", problemText(w))
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
	set, warnings, err := readRules(in, file)
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

func readRules(in io.Reader, file string) (*policy.Set, []policy.Problem, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(in)
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the rules: %w", err)
	}
	set, warnings, err := policy.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return set, warnings, nil
}

// resolveLinks follows the links in a path; the part that does not exist is appended to its real
// folder.
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

func problemText(p policy.Problem) string {
	if p.Rule == "" {
		return p.Reason
	}
	return p.Rule + ": " + p.Reason
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

// visible makes invisible characters visible, so that the text in a terminal is the text that was
// judged.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%04x}`, r)
		}
	}
	return b.String()
}
