package policy

import (
	"path"
	"strings"

	"fairlead/gateway/policy/shell"
)

// arrivalRule finds a rule about the name that a copied file gets in its target folder. sure means
// that the target certainly is a folder and the name is not a pattern.
func (ma *matcher) arrivalRule(c shell.Command, name string) (match *rule, sure bool, why string) {
	to, list := copyTargets(c, name)
	for _, at := range list {
		files, _ := ma.resolver.paths(at)
		for _, r := range ma.fileRestrictions {
			if ma.appliesToAny(r, writing) && ma.names(r, files, at.Glob) {
				return r, !at.Glob && strings.HasSuffix(to.Text, "/"), "May write " + shorten(at.Text) + ", which a rule restricts; " + r.reason
			}
		}
	}
	return nil, false, ""
}

// copyTargets returns the folder that a copy command may write to, and the files' names there.
func copyTargets(c shell.Command, name string) (to shell.Word, list []shell.Word) {
	if !copiers[name] {
		return to, nil
	}
	to, from, ok := copyArguments(c.Words[1:], "tSgmo", name != "rsync" && name != "scp")
	if !ok || to.Dynamic {
		return to, nil
	}
	for _, w := range from {
		if !w.Dynamic && w.Text != "" {
			at := to
			at.Text, at.Glob = path.Join(to.Text, path.Base(w.Text)), w.Glob || to.Glob
			list = append(list, at)
		}
	}
	return to, list
}

// copyArguments returns the target of a copy command, which is the value of -t if the command
// supports it or the last operand, and the sources. takes are the options with a value.
func copyArguments(words []shell.Word, takes string, hasTarget bool) (to shell.Word, from []shell.Word, ok bool) {
	from = operands(words, takes)
	if to, ok = valueOf(words, "-t,--target-directory"); ok && hasTarget {
		return to, from, true
	}
	if len(from) < 2 {
		return to, nil, false
	}
	return from[len(from)-1], from[:len(from)-1], true
}

// isLinking reports whether a command creates a link, by which its target can be read and written.
func isLinking(name string, words []shell.Word) bool {
	switch name {
	case "ln", "link", "mount", "bindfs":
		return true
	case "cp", "gcp":
		return hasOption(words, "-l,--link", "") || hasOption(words, "-s,--symbolic-link", "")
	case "rsync":
		return hasBeginning(words, "--link-d")
	}
	return false
}

// linkTargets returns the targets of relative links, which start at the last word or its folder.
func linkTargets(words []shell.Word) (list []shell.Word) {
	link, from, _ := copyArguments(words, "tS", true)
	for _, w := range from {
		if isAbs(w.Text) || w.Tilde || strings.HasPrefix(w.Text, "~") {
			continue
		}
		for _, dir := range []string{path.Dir(link.Text), link.Text} {
			list = append(list, combine(path.Join(dir, w.Text), link, w))
		}
	}
	return list
}

// combine returns a word with a text that consists of two words, of which the first starts it.
func combine(text string, first, second shell.Word) shell.Word {
	return shell.Word{
		Text: text, Dynamic: first.Dynamic || second.Dynamic, Ambiguous: first.Ambiguous || second.Ambiguous,
		Glob: first.Glob || second.Glob, Tilde: first.Tilde,
	}
}
