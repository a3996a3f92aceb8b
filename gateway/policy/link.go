package policy

import (
	"path"
	"strings"

	"fairlead/gateway/policy/shell"
)

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

// linkTargets returns the targets of relative links: a link starts at the folder that contains it, which
// is the last word or its folder.
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
			aim.Dynamic, aim.Odd, aim.Glob = w.Dynamic || link.Dynamic, w.Odd || link.Odd, w.Glob || link.Glob
			list = append(list, aim)
		}
	}
	return list
}
