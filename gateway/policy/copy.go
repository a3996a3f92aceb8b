package policy

import (
	"path"
	"strings"

	"fairlead/gateway/policy/shell"
)

// arrivalRule finds a rule about the name that a copied file gets in its target folder. sure means
// that the target certainly is a folder and the name is not a pattern.
func (fr *fileRules) arrivalRule(c shell.Command, name string) (found *rule, sure bool, why string) {
	to, list := copyTargets(c, name)
	for _, at := range list {
		files, _ := fr.resolver.paths(at)
		for _, r := range fr.fileRestrictions {
			for _, f := range files {
				if (fr.resolver.match(r.path, f, true) || at.Glob && fr.resolver.mayMeet(r.path, f)) &&
					(fr.applies(r, "Write") || fr.applies(r, "Edit")) {
					return r, !at.Glob && strings.HasSuffix(to.Text, "/"), "May write " + shorten(at.Text) + ", which a rule restricts; " + reasonOf(r)
				}
			}
		}
	}
	return nil, false, ""
}

// copyTargets returns the folder that a copy command may write to, and the names that the files get
// there.
func copyTargets(c shell.Command, name string) (to shell.Word, list []shell.Word) {
	if !copiers[name] {
		return to, nil
	}
	from := operands(c.Words[1:], "tSgmo")
	to, ok := valueOf(c.Words[1:], 't', "--target-directory")
	if !ok || name == "rsync" || name == "scp" {
		if len(from) < 2 {
			return to, nil
		}
		to, from = from[len(from)-1], from[:len(from)-1]
	}
	if to.Dynamic {
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

// isLinking reports whether a command creates a link, by which its target can be read and written.
func isLinking(name string, words []shell.Word) bool {
	switch name {
	case "ln", "link", "mount", "bindfs":
		return true
	case "cp", "gcp":
		return hasOption(words, 'l', "--link") || hasOption(words, 's', "--symbolic-link")
	case "rsync":
		return hasBeginning(words, "--link-d")
	}
	return false
}

// linkTargets returns the targets of relative links: a link starts at the folder that contains it,
// which is the last word or its folder.
func linkTargets(words []shell.Word) (list []shell.Word) {
	to := operands(words, "tS")
	link, ok := valueOf(words, 't', "--target-directory")
	if !ok {
		if len(to) < 2 {
			return nil
		}
		link, to = to[len(to)-1], to[:len(to)-1]
	}
	for _, w := range to {
		if isAbs(w.Text) || w.Tilde || strings.HasPrefix(w.Text, "~") {
			continue
		}
		for _, dir := range []string{path.Dir(link.Text), link.Text} {
			aim := w
			aim.Text, aim.Tilde = path.Join(dir, w.Text), link.Tilde
			aim.Dynamic, aim.Ambiguous, aim.Glob = w.Dynamic || link.Dynamic, w.Ambiguous || link.Ambiguous, w.Glob || link.Glob
			list = append(list, aim)
		}
	}
	return list
}
