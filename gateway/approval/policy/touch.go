package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/approval/shell"
)

// anyAccess are the tools as whose calls a program's access to a file counts: first those that write.
var anyAccess = []string{"Write", "Edit", "Read"}

// touches applies the ask and deny rules about files to a command's words. Programs that are known to read or write what they are given
// get the rule's verdict; for others a word that names such a file asks.
func (j *judging) touches(c shell.Command) (v Verdict, found *rule, why string) {
	if len(j.paths) == 0 || c.Words[0].Dynamic {
		return "", nil, ""
	}
	name := base(c.Words[0].Text)
	if silent[name] {
		return "", nil, ""
	}
	hidden := "" // a word of which nobody knows which file it is
	for _, m := range mentions(name, c) {
		if !slices.ContainsFunc(j.paths, func(r *rule) bool { return slices.ContainsFunc(m.tools, r.tool.match) }) {
			continue
		}
		if m.word.Dynamic {
			if r := j.aboutSome(m.tools); r != nil && found == nil {
				v, found, hidden = Ask, r, m.word.Text
			}
			continue
		}
		m.word = j.place.widened(m.word)
		list, _ := j.place.paths(m.word)
		if len(list) == 0 && m.sure { // nobody knows the folder
			if r := j.aboutSome(m.tools); r != nil && found == nil {
				v, found, hidden = Ask, r, m.word.Text
			}
			continue
		}
		for _, r := range j.paths {
			hit, inside := false, false
			for _, f := range list {
				hit = hit || j.place.match(r.path, f, true) || m.word.Glob && j.place.mayMeet(r.path, f)
				inside = inside || m.taken && j.place.within(r.path, f, m.word.Glob) == certain
			}
			for _, t := range m.tools {
				if !hit && !inside || !j.applies(r, t) {
					continue
				}
				got := Ask
				if m.sure && r.Verdict == Deny && !m.word.Glob {
					got = Deny
				}
				if found == nil || hidden != "" || got == Deny && v != Deny {
					v, found, why, hidden = got, r, ruleReason(r), ""
					switch {
					case !hit:
						why = insideReason(r)
					case got == Ask:
						why = "it may open a file that " + r.called() + " is about: " + short(r.Path)
					}
				}
			}
		}
	}
	if v == Deny {
		return v, found, why
	}
	if r, sure, reason := j.arrives(c, name); r != nil && (found == nil || hidden != "" || sure) {
		v, found, why, hidden = Ask, r, reason, ""
		if sure && r.Verdict == Deny {
			v = Deny
		}
	}
	if found == nil {
		v, found, why = j.covers(c)
	}
	if hidden != "" {
		why = "only the running shell knows which file " + short(hidden) + " is, and " + found.called() + " is about some: " + short(found.Path)
	}
	return v, found, why
}

// aboutSome is a rule about files that such a call might be for.
func (j *judging) aboutSome(tools []string) *rule {
	for _, r := range j.paths {
		if slices.ContainsFunc(tools, func(t string) bool { return j.applies(r, t) }) {
			return r
		}
	}
	return nil
}

// silent are programs whose words are never files.
var silent = set("echo printf true false cd pwd exit return sleep seq which type kill pkill ps id whoami set")

// viewers read what they are given, besides the plain readers.
var viewers = set("less more rg ag jq yq file sort uniq source . bat view diff xxd base64 find tree")

// filesSeen reports whether the rules about files see what a program is up to although it runs what cannot be judged: what xargs starts is judged by
// itself, another machine has other files, and what a database is asked names those that it opens.
func (j *judging) filesSeen(c shell.Command) bool {
	switch base(c.Words[0].Text) {
	case "xargs", "gxargs", "parallel", "ssh", "scp", "sftp", "mosh":
		return c.Starts || len(c.Words) > 1
	case "psql", "mysql", "mariadb", "sqlite3", "duckdb":
		return asks(base(c.Words[0].Text), c.Words[1:]) && !c.Piped && c.Stdin == nil
	}
	return false
}

// asks reports whether a client of a database does nothing but put the question that is in its words: it reads no script, loads no code and starts nothing.
func asks(name string, words []shell.Word) bool {
	rest := operands(words, "")
	question := len(rest) > 1 // the database, and what is asked
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

// starting are the words by which clients of databases read scripts, load code or start programs.
var starting = regexp.MustCompile(`(?i)[|\\]|load|\.(re|sh|sy|ex|in)|system|program|source|edit`)
