package policy

import (
	"path"
	"strings"

	"fairlead/gateway/approval/shell"
)

// copiers put what they are given under its own name into a folder that is there.
var copiers = set("cp mv ln install rsync scp gcp ginstall")

// arrives looks for a rule about the name that a file gets in the folder that it is copied to. sure says that it is that file if the last word is a folder.
func (j *judging) arrives(c shell.Command, name string) (found *rule, sure bool, why string) {
	if !copiers[name] {
		return nil, false, ""
	}
	to, arrivals := arriving(name, c)
	for _, at := range arrivals {
		files, _ := j.place.paths(at)
		for _, r := range j.paths {
			for _, f := range files {
				if (j.place.match(r.path, f, true) || at.Glob && j.place.mayMeet(r.path, f)) &&
					(j.applies(r, "Write") || j.applies(r, "Edit")) {
					return r, !at.Glob && strings.HasSuffix(to.Text, "/"), "as " + short(at.Text) + " it may be what a rule is about; " + ruleReason(r)
				}
			}
		}
	}
	return nil, false, ""
}

// arriving is the folder that a copier may put its files into, and the names that they have there.
func arriving(name string, c shell.Command) (to shell.Word, arrivals []shell.Word) {
	list := operands(c.Words[1:], "tSgmo")
	to, ok := valueOf(c.Words[1:], 't', "--target-directory")
	if !ok || name == "rsync" || name == "scp" {
		if len(list) < 2 {
			return to, nil
		}
		to, list = list[len(list)-1], list[:len(list)-1]
	}
	if to.Dynamic {
		return to, nil
	}
	for _, w := range list {
		if w.Dynamic || w.Text == "" {
			continue
		}
		at := to
		at.Text, at.Glob = path.Join(to.Text, path.Base(w.Text)), w.Glob || to.Glob
		arrivals = append(arrivals, at)
	}
	return to, arrivals
}
