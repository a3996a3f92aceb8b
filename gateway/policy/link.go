package policy

import (
	"path"
	"strings"

	"fairlead/gateway/policy/shell"
)

// linking reports whether a command makes another way to what it is given, by which that can be read and written.
func linking(name string, words []shell.Word) bool {
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

// aims are what relative links lead to: it starts from the folder that the link is in, which is that of the last word, or the last word.
func aims(words []shell.Word) (list []shell.Word) {
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
