package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxFile is the largest rules file in bytes, enough for more than 10,000 rules.
const maxFile = 16 << 20

// Problem is a rule that was turned off, or an unknown part of the file.
type Problem struct {
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// Set is a prepared policy. It is safe for concurrent use.
type Set struct {
	fallback Verdict
	rules    []*rule
	grants   []Grant
	// doubt is not empty if a rule that asks or denies is turned off: then nothing is allowed.
	doubt string

	allow            map[string][]*rule // by the program's name
	strict           map[string][]*rule // ask and deny, by the program's base name
	anyProgram       []*rule            // ask and deny whose program is a pattern, or without argv
	files            []*rule            // rules with a path, or for other tools than Bash
	fileRestrictions []*rule            // those of files that ask or deny
	hasCommandRules  bool               // some rule asks or denies about commands
}

// rule is a prepared Rule.
type rule struct {
	Rule
	argv   []wordGlob
	path   *pathGlob
	node   wordGlob
	tool   wordGlob
	cwd    string
	tree   bool // cwd and below
	reason string
}

var errUnknownVerdict = errors.New(`must be "allow", "ask" or "deny"`)

// Parse parses a rules file. An unreadable file and an invalid rule are errors. A rule that fails
// its own examples, or has unknown fields, is turned off and reported as a problem.
func Parse(data []byte) (*Set, []Problem, error) {
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("reading rules: more than %d MiB", maxFile>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // written by editors on Windows
	var raw struct {
		Default *Verdict          `json:"default"`
		Rules   []json.RawMessage `json:"rules"`
		Grants  []json.RawMessage `json:"grants"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&raw); err != nil {
		return nil, nil, fmt.Errorf("reading rules: %w", explain(data, err))
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return nil, nil, errors.New("reading rules: it must be an object such as " + smallest + ", not null")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("reading rules: there is text after the end")
	}
	var f File
	var problems []Problem
	for _, name := range unknownNames(data, fileFields) {
		problems = append(problems, Problem{Reason: describeUnknown([]string{name}, fileFields) + " and has no effect"})
	}
	f.Default = Ask
	if raw.Default != nil {
		f.Default = *raw.Default
	}
	off := map[int]string{}
	for i, r := range raw.Rules {
		var one Rule
		if err := json.Unmarshal(r, &one); err != nil {
			return nil, nil, fmt.Errorf("reading rules: %s: %s", ruleName(one, i), strings.ReplaceAll(explain(r, err).Error(), smallest, smallestRule))
		}
		if bytes.Contains(r, []byte(`"argv"`)) && one.Argv == nil {
			one.Argv = []string{} // null is as invalid as []
		}
		off[i] = UnknownFields(r)
		if one.ID != "" && slices.ContainsFunc(f.Rules, func(r Rule) bool { return r.ID == one.ID }) {
			problems = append(problems, Problem{Rule: one.ID, Reason: "two rules have this id"})
		}
		f.Rules = append(f.Rules, one)
	}
	for i, g := range raw.Grants {
		var one Grant
		if err := json.Unmarshal(g, &one); err != nil {
			return nil, nil, fmt.Errorf("reading rules: grant %d: %w", i+1, explain(g, err))
		}
		if names := unknownNames(g, grantFields); len(names) > 0 {
			problems = append(problems, Problem{Rule: grantName(one, i), Reason: describeUnknown(names, grantFields) + ": the grant is off"})
			continue
		}
		f.Grants = append(f.Grants, one)
	}
	s, more, err := build(f, off)
	return s, append(problems, more...), err
}

// Grants returns the grants of the file, except those that are turned off.
func (s *Set) Grants() []Grant { return s.grants }

// noteFields are fields for people only.
var noteFields = []string{"comment", "description", "name", "note", "title", "version", "$schema", "createdAt", "createdBy", "hits", "lastUsed", "origin"}

var fileFields = []string{"default", "rules", "grants"}

var ruleFields = []string{"id", "source", "node", "agent", "session", "tool", "argv", "path", "when", "cwd", "verdict", "expires", "reason", "match", "notMatch"}

var grantFields = []string{"id", "scope", "tool", "argv", "command", "shell", "args", "path", "cwd", "node", "session", "verdict", "expires", "reason"}

// UnknownFields lists the unknown fields of a rule in JSON, each of which would change it, or "".
func UnknownFields(rule json.RawMessage) string {
	if names := unknownNames(rule, ruleFields); len(names) > 0 {
		return describeUnknown(names, ruleFields)
	}
	return ""
}

func unknownNames(data []byte, known []string) (list []string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	for name := range m { // compared as encoding/json does
		if !slices.ContainsFunc(slices.Concat(known, noteFields), func(k string) bool { return strings.EqualFold(k, name) }) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func ruleName(r Rule, i int) string { return cmp.Or(r.ID, fmt.Sprintf("rule %d", i+1)) }

func grantName(g Grant, i int) string { return cmp.Or(g.ID, fmt.Sprintf("grant %d", i+1)) }

// New prepares rules that do not come from a file. It returns errors and problems as [Parse] does.
func New(f File) (*Set, []Problem, error) {
	f.Default = cmp.Or(f.Default, Ask)
	return build(f, nil)
}

func build(f File, off map[int]string) (*Set, []Problem, error) {
	s := &Set{fallback: f.Default, doubt: f.Doubt, allow: map[string][]*rule{}, strict: map[string][]*rule{}}
	if f.Default != Allow && f.Default != Ask && f.Default != Deny {
		return nil, nil, fmt.Errorf("default %q %w", f.Default, errUnknownVerdict)
	}
	var problems []Problem
	var bad []error
	for i, r := range f.Rules {
		r.ID = ruleName(r, i)
		p, err := prepare(r)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", r.ID, err))
			continue
		}
		if why := cmp.Or(off[i], p.examples()); why != "" {
			problems = append(problems, Problem{Rule: r.ID, Reason: why + ": the rule is off"})
			if r.Verdict != Allow {
				s.doubt = cmp.Or(s.doubt, fmt.Sprintf("%s, which should %s, is turned off", r.ID, r.Verdict))
			}
			continue
		}
		s.add(p)
	}
	for i, g := range f.Grants {
		g.ID = grantName(g, i)
		if err := g.check(); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", g.ID, err))
			continue
		}
		s.grants = append(s.grants, g)
	}
	if len(bad) > 0 {
		return nil, problems, errors.Join(bad...)
	}
	return s, problems, nil
}

func (s *Set) add(p *rule) {
	s.rules = append(s.rules, p)
	command := p.tool.match("Bash") && p.path == nil
	if p.argv == nil {
		s.files = append(s.files, p)
		if p.path != nil && p.Verdict != Allow {
			s.fileRestrictions = append(s.fileRestrictions, p)
		}
	}
	switch {
	case p.Verdict == Allow:
		if p.argv != nil {
			s.allow[p.argv[0].parts[0]] = append(s.allow[p.argv[0].parts[0]], p)
		}
		return
	case p.argv == nil && !command:
		return
	case p.argv != nil && p.argv[0].literal():
		name := baseName(p.argv[0].parts[0])
		s.strict[name] = append(s.strict[name], p)
	default:
		s.anyProgram = append(s.anyProgram, p)
	}
	s.hasCommandRules = true
}
