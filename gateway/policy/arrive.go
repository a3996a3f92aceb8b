package policy

import (
	"path"
	"strings"

	"fairlead/gateway/policy/shell"
)

// arrives finds a rule about the name that a copied file gets in its target folder. sure means that
// the target certainly is a folder and the name is not a pattern.
func (j *judging) arrives(c shell.Command, name string) (found *rule, sure bool, why string) {
	to, list := arrivals(c, name)
	for _, at := range list {
		files, _ := j.place.paths(at)
		for _, r := range j.paths {
			for _, f := range files {
				if (j.place.match(r.path, f, true) || at.Glob && j.place.mayMeet(r.path, f)) &&
					(j.applies(r, "Write") || j.applies(r, "Edit")) {
					return r, !at.Glob && strings.HasSuffix(to.Text, "/"), "May write " + short(at.Text) + ", which a rule restricts; " + ruleReason(r)
				}
			}
		}
	}
	return nil, false, ""
}

// arrivals returns the folder that a copy command may write to, and the names that the files get
// there.
func arrivals(c shell.Command, name string) (to shell.Word, list []shell.Word) {
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
