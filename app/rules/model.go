package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"
	"mvdan.cc/sh/v3/syntax"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Fields is a rule as the form shows it.
type Fields struct {
	Verdict string
	Expires time.Time // zero: never
	Tool    string
	Words   []Word // of the command, for Bash
	Further bool   // any further words may follow
	Path    string // pattern of files, for other tools
	Folder  string // empty: any
	Below   bool   // Folder includes its subfolders
	Node    protocol.NodeID
	Session protocol.SessionKey
}

// Word is one word of a command in a rule. A * in Text stands for any text.
type Word struct {
	Text string // may be empty if Any is set
	Any  bool   // any value may stand in its place
}

// newPolicy is the policy with which the form of a new rule starts.
const newPolicy = `{"tool":"Bash","verdict":"allow"}`

// toolBash is the tool whose calls are commands.
const toolBash = "Bash"

// toolChoices are the tools that the form offers, with their description.
var toolChoices = []struct{ Name, Words string }{
	{toolBash, "Run a command"}, {"Read", "Read files"}, {"Write", "Write files"}, {"Edit", "Edit files"}, {"*", "Use any tool"},
}

// policyFields has the fields of a policy that the form shows.
type policyFields struct {
	Tool    string              `json:"tool"`
	Argv    []string            `json:"argv"`
	Path    string              `json:"path"`
	Cwd     string              `json:"cwd"`
	Node    protocol.NodeID     `json:"node"`
	Session protocol.SessionKey `json:"session"`
	Verdict string              `json:"verdict"`
	Expires time.Time           `json:"expires"`
}

// formFields are the fields of a policy that the form shows; keptFields are those that it leaves
// unchanged.
var (
	formFields = []string{"tool", "argv", "path", "cwd", "node", "session", "verdict", "expires"}
	keptFields = []string{"reason", "match", "notMatch"}
)

// errOnlyJSON reports that a rule has parts that the form cannot show.
var errOnlyJSON = errors.New("the form cannot show this rule: edit it as JSON")

// parseFields returns the form of a policy, or an error if it is not valid JSON or, with
// [errOnlyJSON], if the form cannot show all of it.
func parseFields(policy json.RawMessage) (Fields, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(policy, &all); err != nil {
		return Fields{}, fmt.Errorf("this is not a rule: %w", err)
	}
	var p policyFields
	if err := json.Unmarshal(policy, &p); err != nil {
		return Fields{}, fmt.Errorf("this is not a rule: %w", err)
	}
	f := Fields{Verdict: p.Verdict, Expires: p.Expires, Tool: p.Tool, Path: p.Path, Node: p.Node, Session: p.Session}
	f.Folder, f.Below = strings.CutSuffix(p.Cwd, "/**")
	if f.Below && f.Folder == "" {
		f.Folder = "/"
	}
	for i, word := range p.Argv {
		switch {
		case word == "**" && i == len(p.Argv)-1:
			f.Further = true
		case word == "*":
			f.Words = append(f.Words, Word{Any: true})
		case strings.Contains(word, `\*`):
			return f, errOnlyJSON
		default:
			f.Words = append(f.Words, Word{Text: word})
		}
	}
	if f.IsCommand() && f.Path != "" || !f.IsCommand() && len(p.Argv) > 0 {
		return f, errOnlyJSON
	}
	for name := range all {
		if !slices.Contains(formFields, name) && !slices.Contains(keptFields, name) {
			return f, errOnlyJSON
		}
	}
	return f, nil
}

// Apply returns policy with the fields of the form. It keeps the fields that the form does not
// show.
func (f Fields) Apply(policy json.RawMessage) (json.RawMessage, error) {
	p := make(map[string]json.RawMessage)
	if err := json.Unmarshal(policy, &p); err != nil {
		return nil, fmt.Errorf("the rule is not JSON: %w", err)
	}
	maps.DeleteFunc(p, func(name string, _ json.RawMessage) bool { return slices.Contains(formFields, name) })
	var errs []error
	set := func(name string, value any, isSet bool) {
		if isSet {
			errs = append(errs, question.SetArgument(p, name, value))
		}
	}
	set("tool", f.Tool, true)
	set("verdict", f.Verdict, true)
	argv := f.argv()
	set("argv", argv, f.IsCommand() && len(argv) > 0)
	set("path", f.Path, !f.IsCommand() && f.Path != "")
	set("cwd", f.cwd(), f.Folder != "")
	set("node", f.Node, f.Node != "")
	set("session", f.Session, f.Session != "")
	set("expires", f.Expires.UTC().Truncate(time.Second), !f.Expires.IsZero())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return protocol.Marshal(p)
}

// IsCommand reports whether the rule is about commands, and not about files.
func (f Fields) IsCommand() bool { return f.Tool == toolBash }

// Missing says what the form still needs, or nothing.
func (f Fields) Missing() string {
	if f.IsCommand() && f.Verdict == "allow" && len(f.Words) == 0 {
		return "Enter the command that the rule allows."
	}
	return ""
}

func (f Fields) argv() []string {
	argv := lists.Map(f.Words, func(w Word) string {
		if w.Any {
			return "*"
		}
		return w.Text
	})
	if f.Further {
		argv = append(argv, "**")
	}
	return argv
}

func (f Fields) cwd() string {
	if f.Below {
		return strings.TrimSuffix(f.Folder, "/") + "/**"
	}
	return f.Folder
}

// Command returns the words as text that [Fields.SetCommand] accepts.
func (f Fields) Command() string {
	return strings.Join(lists.Map(f.Words, func(w Word) string {
		if w.Text == "" && w.Any {
			return "*"
		}
		quoted, err := syntax.Quote(w.Text, syntax.LangBash)
		if err != nil || strings.Contains(w.Text, "*") {
			return w.Text
		}
		return quoted
	}), " ")
}

// SetCommand replaces the words by those of a command. A word that has not changed may still have
// any value; so may a word that is only a star.
func (f *Fields) SetCommand(text string) error {
	if hasExpansion(text) {
		return errors.New("the values of variables and command substitutions are not known in advance: use * for any value")
	}
	fields, err := shell.Fields(text, func(name string) string { return map[string]string{"HOME": "~"}[name] })
	if err != nil {
		return errors.New("enter one command, such as git push: without ; | & > and with closed quotes")
	}
	words := lists.Map(fields, func(s string) Word { return Word{Text: s} })
	if n := len(words); n > 0 && words[n-1].Text == "**" {
		words, f.Further = words[:n-1], true
	}
	for i, w := range words {
		switch {
		case w.Text == "*":
			words[i] = Word{Any: true}
		case i < len(f.Words) && f.Words[i].Text == w.Text:
			words[i].Any = f.Words[i].Any
		}
	}
	f.Words = words
	return nil
}

// hasExpansion reports whether a command contains variables or the output of other commands.
func hasExpansion(command string) (found bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// Label describes a word in the form.
func (w Word) Label() string {
	if w.Any {
		return "any value"
	}
	return w.Text
}

// importFile adds the rules of a file. It blocks.
func importFile(ctx context.Context, g feed.Gateway, file []byte) (protocol.RulesImportResult, error) {
	if !json.Valid(file) {
		return protocol.RulesImportResult{}, fmt.Errorf("the file does not contain rules: it is not JSON")
	}
	return feed.Call(ctx, g, protocol.RulesImport, protocol.RulesImportParams{File: file})
}

// find returns the rules whose description, origin or text contain every word of a query.
func find(rules []protocol.Rule, query string) []protocol.Rule {
	return lists.Without(rules, func(r protocol.Rule) bool {
		return !wording.Matches(r.Words+" "+r.Origin+" "+string(r.Policy)+" "+r.Problem, query)
	})
}

// verdictOf returns the verdict and the expiry of a rule. The zero time means never.
func verdictOf(policy json.RawMessage) (verdict string, expires time.Time) {
	var p struct {
		Verdict  string    `json:"verdict"`
		Decision string    `json:"decision"` // as in toolApproval
		Expires  time.Time `json:"expires"`
	}
	if json.Unmarshal(policy, &p) != nil {
		return "", time.Time{}
	}
	return cmp.Or(p.Verdict, p.Decision), p.Expires
}

// changeable reports what is possible here: a chat's grants, for example, only to be removed.
func changeable(r protocol.Rule) (edit, remove bool) {
	return r.Origin != protocol.RuleFromConfig && r.Origin != protocol.RuleFromChat, r.Origin != protocol.RuleFromConfig
}
