package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// fileDecision is the result of the rules about files for a command so far.
type fileDecision struct {
	verdict     Verdict
	rule        *rule
	reason      string
	unknownWord string // the word that led to it, if its file is unknown
}

// decide applies the ask and deny rules about files to a command's words. Programs that are known
// to read or write the files in their arguments get the rule's verdict; for others, a word that
// names such a file asks.
func (fr *fileRules) decide(c shell.Command) (v Verdict, found *rule, why string) {
	if len(fr.fileRestrictions) == 0 || c.Words[0].Dynamic {
		return "", nil, ""
	}
	name := baseName(c.Words[0].Text)
	if noFileArguments[name] {
		return "", nil, ""
	}
	var t fileDecision
	for _, m := range fileWords(name, c) {
		if slices.ContainsFunc(fr.fileRestrictions, func(r *rule) bool { return slices.ContainsFunc(m.tools, r.tool.match) }) {
			fr.checkMention(m, &t)
		}
	}
	if t.verdict == Deny {
		return t.verdict, t.rule, t.reason
	}
	if r, sure, reason := fr.arrivalRule(c, name); r != nil && (t.rule == nil || t.unknownWord != "" || sure) {
		t = fileDecision{verdict: Ask, rule: r, reason: reason}
		if sure && r.Verdict == Deny {
			t.verdict = Deny
		}
	}
	if t.rule == nil {
		t.verdict, t.rule, t.reason = fr.folderRule(c)
	}
	if t.unknownWord != "" {
		t.reason = "The file " + shorten(t.unknownWord) + " is known only when the command runs, and " + t.rule.label() + " restricts " + shorten(t.rule.Path)
	}
	return t.verdict, t.rule, t.reason
}

// checkMention handles one word.
func (fr *fileRules) checkMention(m fileWord, t *fileDecision) {
	var list []string
	if !m.word.Dynamic {
		m.word = fr.resolver.expandShortNames(m.word)
		list, _ = fr.resolver.paths(m.word)
	}
	if m.word.Dynamic || len(list) == 0 && m.sure { // or the folder is unknown
		if r := fr.anyRule(m.tools); r != nil && t.rule == nil {
			t.verdict, t.rule, t.unknownWord = Ask, r, m.word.Text
		}
		return
	}
	for _, r := range fr.fileRestrictions {
		hit, inside := false, false
		for _, f := range list {
			hit = hit || fr.resolver.match(r.path, f, true) || m.word.Glob && fr.resolver.mayMeet(r.path, f)
			inside = inside || m.withContents && fr.resolver.within(r.path, f, m.word.Glob) == certain
		}
		if !hit && !inside {
			continue
		}
		for _, tool := range m.tools {
			if fr.applies(r, tool) {
				t.apply(r, m, hit)
			}
		}
	}
}

// apply handles a word that names a file of a rule, or, if hit is false, a folder that contains it.
func (t *fileDecision) apply(r *rule, m fileWord, hit bool) {
	got := Ask
	if m.sure && r.Verdict == Deny && !m.word.Glob {
		got = Deny
	}
	if t.rule != nil && t.unknownWord == "" && !(got == Deny && t.verdict != Deny) {
		return
	}
	*t = fileDecision{verdict: got, rule: r, reason: reasonOf(r)}
	switch {
	case !hit:
		t.reason = containsReason(r)
	case got == Ask:
		t.reason = "May open " + shorten(r.Path) + ", which " + r.label() + " restricts"
	}
}

// anyRule returns a rule about files that may apply to calls of such tools.
func (fr *fileRules) anyRule(tools []string) *rule {
	for _, r := range fr.fileRestrictions {
		if slices.ContainsFunc(tools, func(t string) bool { return fr.applies(r, t) }) {
			return r
		}
	}
	return nil
}

// namesItsFiles reports whether the rules about files can check a program although it runs
// something that cannot be checked: a command that xargs starts is checked separately, another
// machine has other files, and a database query names the files that it opens.
func (ma *matcher) namesItsFiles(c shell.Command) bool {
	switch baseName(c.Words[0].Text) {
	case "xargs", "gxargs", "parallel", "ssh", "scp", "sftp", "mosh":
		return c.Starts || len(c.Words) > 1
	case "psql", "mysql", "mariadb", "sqlite3", "duckdb":
		return onlyQueries(baseName(c.Words[0].Text), c.Words[1:]) && !c.Piped && c.Stdin == nil
	}
	return false
}

// onlyQueries reports whether a database client only sends the query in its words: it reads no
// script, loads no code and starts no program.
func onlyQueries(name string, words []shell.Word) bool {
	rest := operands(words, "")
	question := len(rest) > 1 // the database and the query
	switch name {
	case "psql":
		question = hasLetter(words, "", 'c', "--command") || hasLetter(words, "", 'l', "--list")
	case "mysql", "mariadb":
		question = hasLetter(words, "", 'e', "--execute")
	}
	return question && !slices.ContainsFunc(words, func(w shell.Word) bool {
		return w.Dynamic || startsCode.MatchString(w.Text) || w.Text == "-f" || w.Text == "-i" || w.Text == "-init" || isPrefixOf("--file", strings.SplitN(w.Text, "=", 2)[0], 4)
	})
}

// startsCode matches the words with which database clients read scripts, load code or start
// programs.
var startsCode = regexp.MustCompile(`(?i)[|\\]|load|\.(re|sh|sy|ex|in)|system|program|source|edit`)
