package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// touch is the result of the rules about files for a command so far.
type touch struct {
	verdict Verdict
	rule    *rule
	why     string
	hidden  string // the word that led to it, if its file is unknown
}

// touches applies the ask and deny rules about files to a command's words. Programs that are known
// to read or write the files in their arguments get the rule's verdict; for others, a word that
// names such a file asks.
func (j *judging) touches(c shell.Command) (v Verdict, found *rule, why string) {
	if len(j.paths) == 0 || c.Words[0].Dynamic {
		return "", nil, ""
	}
	name := base(c.Words[0].Text)
	if noFileArguments[name] {
		return "", nil, ""
	}
	var t touch
	for _, m := range mentions(name, c) {
		if slices.ContainsFunc(j.paths, func(r *rule) bool { return slices.ContainsFunc(m.tools, r.tool.match) }) {
			j.mentioned(m, &t)
		}
	}
	if t.verdict == Deny {
		return t.verdict, t.rule, t.why
	}
	if r, sure, reason := j.arrives(c, name); r != nil && (t.rule == nil || t.hidden != "" || sure) {
		t = touch{verdict: Ask, rule: r, why: reason}
		if sure && r.Verdict == Deny {
			t.verdict = Deny
		}
	}
	if t.rule == nil {
		t.verdict, t.rule, t.why = j.covers(c)
	}
	if t.hidden != "" {
		t.why = "The file " + short(t.hidden) + " is known only when the command runs, and " + t.rule.called() + " restricts " + short(t.rule.Path)
	}
	return t.verdict, t.rule, t.why
}

// mentioned handles one word.
func (j *judging) mentioned(m mention, t *touch) {
	var list []string
	if !m.word.Dynamic {
		m.word = j.place.widened(m.word)
		list, _ = j.place.paths(m.word)
	}
	if m.word.Dynamic || len(list) == 0 && m.sure { // or the folder is unknown
		if r := j.aboutSome(m.tools); r != nil && t.rule == nil {
			t.verdict, t.rule, t.hidden = Ask, r, m.word.Text
		}
		return
	}
	for _, r := range j.paths {
		hit, inside := false, false
		for _, f := range list {
			hit = hit || j.place.match(r.path, f, true) || m.word.Glob && j.place.mayMeet(r.path, f)
			inside = inside || m.taken && j.place.within(r.path, f, m.word.Glob) == certain
		}
		if !hit && !inside {
			continue
		}
		for _, tool := range m.tools {
			if j.applies(r, tool) {
				t.met(r, m, hit)
			}
		}
	}
}

// met handles a word that names a file of a rule, or, if hit is false, a folder that contains it.
func (t *touch) met(r *rule, m mention, hit bool) {
	got := Ask
	if m.sure && r.Verdict == Deny && !m.word.Glob {
		got = Deny
	}
	if t.rule != nil && t.hidden == "" && !(got == Deny && t.verdict != Deny) {
		return
	}
	*t = touch{verdict: got, rule: r, why: ruleReason(r)}
	switch {
	case !hit:
		t.why = insideReason(r)
	case got == Ask:
		t.why = "May open " + short(r.Path) + ", which " + r.called() + " restricts"
	}
}

// aboutSome returns a rule about files that may apply to calls of such tools.
func (j *judging) aboutSome(tools []string) *rule {
	for _, r := range j.paths {
		if slices.ContainsFunc(tools, func(t string) bool { return j.applies(r, t) }) {
			return r
		}
	}
	return nil
}

// filesSeen reports whether the rules about files can judge a program although it runs something
// that cannot be judged: a command that xargs starts is judged separately, another machine has
// other files, and a database query names the files that it opens.
func (j *judging) filesSeen(c shell.Command) bool {
	switch base(c.Words[0].Text) {
	case "xargs", "gxargs", "parallel", "ssh", "scp", "sftp", "mosh":
		return c.Starts || len(c.Words) > 1
	case "psql", "mysql", "mariadb", "sqlite3", "duckdb":
		return asks(base(c.Words[0].Text), c.Words[1:]) && !c.Piped && c.Stdin == nil
	}
	return false
}

// asks reports whether a database client only sends the query in its words: it reads no script,
// loads no code and starts no program.
func asks(name string, words []shell.Word) bool {
	rest := operands(words, "")
	question := len(rest) > 1 // the database and the query
	switch name {
	case "psql":
		question = hasLetter(words, "", 'c', "--command") || hasLetter(words, "", 'l', "--list")
	case "mysql", "mariadb":
		question = hasLetter(words, "", 'e', "--execute")
	}
	return question && !slices.ContainsFunc(words, func(w shell.Word) bool {
		return w.Dynamic || starting.MatchString(w.Text) || w.Text == "-f" || w.Text == "-i" || w.Text == "-init" || begins("--file", strings.SplitN(w.Text, "=", 2)[0], 4)
	})
}

// starting matches the words with which database clients read scripts, load code or start programs.
var starting = regexp.MustCompile(`(?i)[|\\]|load|\.(re|sh|sy|ex|in)|system|program|source|edit`)
