package policy

import (
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
	for i, w := range c.Words[1:] {
		if w.Dynamic || w.Text == "" {
			continue
		}
		tools, sure := anyAccess, false
		switch {
		case turned(name, c.Words), glued(w.Text) != "" && !readers[name] && !viewers[name]: // what its options make of it is not known
		case name == "mv": // elsewhere it may be read
			tools, sure = anyAccess, true
		case writers[name] && (name != "cp" && name != "rsync" && name != "scp" && name != "ln" || i == len(c.Words)-2):
			tools, sure = anyAccess[:2], true
		case writers[name], readers[name], viewers[name]:
			tools, sure = anyAccess[2:], true
		}
		if !slices.ContainsFunc(j.paths, func(r *rule) bool { return slices.ContainsFunc(tools, r.tool.match) }) {
			continue
		}
		text := w
		if v := glued(w.Text); v != "" {
			text.Text = v
		} else if isFlag(w.Text) || strings.Contains(w.Text, "=") {
			_, v, ok := strings.Cut(w.Text, "=")
			if !ok || v == "" {
				continue
			}
			text.Text, text.Tilde = v, strings.HasPrefix(v, "~")
		}
		list, _ := j.place.paths(text)
		source := takers[name] && !(name == "mv" && i > 0 && i == len(c.Words)-2 && !turned(name, c.Words))
		for _, r := range j.paths {
			hit, inside := false, false
			for _, f := range list {
				hit = hit || r.path.match(f, j.place.root, j.place.home, true) || w.Glob && r.path.mayMeet(f, j.place.root, j.place.home)
				inside = inside || source && r.path.within(f, j.place.root, j.place.home, w.Glob) == certain
			}
			for _, t := range tools {
				if !hit && !inside || !j.applies(r, t) {
					continue
				}
				got := Ask
				if sure && r.Verdict == Deny && !w.Glob {
					got = Deny
				}
				if found == nil || got == Deny && v != Deny {
					v, found, why = got, r, ruleReason(r)
					if !hit {
						why = insideReason(r)
					}
				}
			}
		}
	}
	if v == Deny {
		return v, found, why
	}
	if r, sure, reason := j.arrives(c, name); r != nil && (found == nil || sure) {
		v, found, why = Ask, r, reason
		if sure && r.Verdict == Deny {
			v = Deny
		}
	}
	if found == nil {
		v, found, why = j.covers(c)
	}
	return v, found, why
}

// glued is the value that a short option has in its own word, as in -osecrets/key.
func glued(word string) string {
	if len(word) < 4 || word[0] != '-' || word[1] == '-' || strings.Contains(word, "=") {
		return ""
	}
	return word[2:]
}

// turned reports whether a command's options say that it writes elsewhere than its words are known for: into a folder that stands before what is copied,
// or into a file that a program which only reads is told to write.
func turned(name string, words []shell.Word) bool {
	long, letter := "", byte(0)
	switch name {
	case "cp", "mv", "ln", "install":
		long, letter = "--target-directory", 't'
	case "sort", "tree", "jq", "yq", "base64":
		long, letter = "--output", 'o'
	case "uniq", "xxd":
		return len(words) > 2
	default:
		return false
	}
	for _, w := range words[1:] {
		opt, _, _ := strings.Cut(w.Text, "=")
		if len(opt) > 2 && strings.HasPrefix(long, opt) || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.IndexByte(w.Text, letter) > 0 {
			return true
		}
	}
	return false
}

// silent are programs whose words are never files.
var silent = set("echo printf true false cd pwd exit return sleep seq which type man kill pkill ps id whoami set")

// viewers read what they are given, besides the plain readers.
var viewers = set("less more rg ag jq yq file sort uniq source . nano bat view diff xxd base64 find tree")
