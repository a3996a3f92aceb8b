package policy

import (
	"path"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/policy/shell"
)

// protected returns the reason why writing one of these files needs an approval whatever the rules
// say. Git's own commands name no files in .git: they are judged by their effect.
func (j *judging) protected(list []string) string {
	for _, f := range list {
		low := fold(f)
		switch e, ok := sensitive.Find(low, fold(j.place.home), sensitive.Startup|sensitive.Secret); {
		case device.MatchString(low):
			return "Writes directly to a disk"
		case j.ours(f):
			return ourFiles
		case ok && e.Kind&sensitive.Startup != 0:
			return "Changes " + short(path.Base(f)) + ", which can start programs later (" + e.Program() + ")"
		case ok:
			return "Changes " + short(path.Base(f)) + ", which holds passwords, tokens or private data (" + e.Program() + ")"
		}
	}
	return ""
}

// file judges a call of a tool that runs no command.
func (j *judging) file() {
	if len(j.call.Paths) == 0 {
		j.add(j.open(j.call.Tool, "call", j.call.Tool, nil, true))
	}
	write, floor, protected := writes(j.call.Tool), false, j.protected
	if j.call.Whole {
		protected = j.protectedBelow
	}
	for _, p := range j.call.Paths {
		list, ok := j.place.paths(shell.Word{Text: p})
		part := j.open(j.call.Tool, "file", p, list, ok)
		if why := protected(list); write && why != "" && part.Verdict != Deny {
			part.ruled, floor = true, true
			part.Verdict, part.Floor, part.Rule, part.Reason = Ask, true, "", why
		}
		j.add(part)
	}
	if !write || floor || j.call.Named == "" {
		return
	}
	list, _ := j.place.paths(shell.Word{Text: j.call.Named, Tilde: strings.HasPrefix(j.call.Named, "~")})
	if why := protected(list); why != "" {
		j.add(Part{Kind: "file", Text: j.call.Named, Verdict: Ask, Floor: true, Reason: why, ruled: true})
	}
}

// writes reports whether a file tool may change files: every tool that is not known to be read-only
// may.
func writes(tool string) bool {
	switch tool {
	case "Read", "Glob", "Grep":
		return false
	}
	return true
}

// protectedBelow is protected for a folder with everything in it.
func (j *judging) protectedBelow(list []string) string {
	for _, f := range list {
		if e, ok := sensitive.FindBelow(fold(f), fold(j.place.home), sensitive.Startup); ok {
			return "Changes " + short(path.Base(f)) + ", which may contain files that start programs later (" + e.Program() + ")"
		}
	}
	return j.protected(list)
}

// places returns the reason why the target of a copy is protected: for a file by its new name, for
// a folder also by its possible contents.
func (j *judging) places(c shell.Command, name string) string {
	_, list := arrivals(c, name)
	check := j.protected
	if name == "mv" || name == "gmv" || name == "ln" || name == "gln" || recursive(c.Words[1:]) {
		check = j.protectedBelow
		if to := operands(c.Words[1:], "tSgmo"); len(to) > 1 && !to[len(to)-1].Dynamic {
			list = append(list, to[len(to)-1])
		}
	}
	for _, w := range list {
		files, _ := j.place.paths(w)
		if why := check(files); why != "" {
			return why
		}
	}
	return ""
}

// protectedNames returns the names of protected files that start with a text.
func protectedNames(begin string) (list []string) {
	for _, e := range sensitive.Entries() {
		if name := strings.ToLower(path.Base(e.Path)); strings.HasPrefix(name, begin) && !strings.Contains(name, "*") {
			list = append(list, name)
		}
	}
	return list
}
