package policy

import (
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// homeFolder matches a home folder by its path, after fold.
var homeFolder = regexp.MustCompile(`^((/home|/users|[a-z]:/users)/[^/]+|/root|/var/root)$`)

// unpacks returns the reason why a command that writes files with names from elsewhere may write a
// protected one.
func (j *judging) unpacks(c shell.Command, name string) string {
	if unpackers[name] && (name != "git" || applies(c)) {
		for _, a := range accesses(c) {
			if a.file || a.verb != "write" && a.verb != "extract" || a.word.Dynamic {
				continue
			}
			list, _ := j.place.paths(a.word)
			if len(list) == 0 && j.place.dirs == nil {
				return "The folder that " + name + " writes to is unknown"
			}
			if folder := j.holdsProtected(list); folder != "" {
				return name + " may write any file in " + short(folder) + ", including start-up files"
			}
		}
	}
	to, arriving := arrivals(c, name)
	if list, _ := j.place.paths(to); to.Text == "" || j.holdsProtected(list) == "" {
		return ""
	}
	if recursive(c.Words[1:]) {
		return name + " may write any file in " + short(to.Text) + ", including start-up files"
	}
	for _, w := range arriving {
		if why := j.guarded(w); why != "" {
			return why
		}
		if list, _ := j.place.paths(w); name == "mv" && j.holdsProtected(list) != "" {
			return "mv may write start-up files in " + short(w.Text)
		}
		if w.Glob && strings.ContainsAny(path.Base(w.Text)[:1], ".[") {
			return name + " may write start-up files in " + short(to.Text)
		}
	}
	return ""
}

// applies reports whether a git command is git apply.
func applies(c shell.Command) bool {
	i := shell.GitSub(c.Words)
	return i < len(c.Words) && c.Words[i].Text == "apply"
}

// holdsProtected returns the folder of the list in which a file may be protected: the workspace
// itself, with .git and the settings of editors and agents, a home folder, one that contains it, or
// one with settings of programs. A folder below the workspace belongs to the agent, except for
// files that are protected by name.
func (j *judging) holdsProtected(list []string) string {
	for _, f := range list {
		if f == j.place.root {
			return f
		}
		if f == j.place.root {
			return f
		}
		home := homeFolder.MatchString(fold(f)) || j.root([]string{f}, false)
		if _, in := below(f, j.place.root); in && !home {
			if j.protected([]string{f}) != "" {
				return f
			}
			continue
		}
		if home || j.protected([]string{f}) != "" {
			return f
		}
		for _, p := range protectedInFolders {
			if j.protected([]string{path.Join(f, p)}) != "" {
				return f
			}
		}
	}
	return ""
}
