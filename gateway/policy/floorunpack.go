package policy

import (
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// homeFolder matches a home folder by its path, after fold.
var homeFolder = regexp.MustCompile(`^((/home|/users|[a-z]:/users)/[^/]+|/root|/var/root)$`)

// unpackReason returns the reason why a command that writes files with names from elsewhere may
// write a protected one.
func (fl *floor) unpackReason(c shell.Command, name string) string {
	if unpackers[name] && (name != "git" || applies(c)) {
		for _, a := range accesses(c) {
			if a.file || a.verb != "write" && a.verb != "extract" || a.word.Dynamic {
				continue
			}
			list, _ := fl.resolver.paths(a.word)
			if len(list) == 0 && fl.resolver.dirs == nil {
				return "The folder that " + name + " writes to is unknown"
			}
			if folder := fl.protectedFolder(list); folder != "" {
				return name + " may write any file in " + shorten(folder) + ", including start-up files"
			}
		}
	}
	to, arriving := copyTargets(c, name)
	if list, _ := fl.resolver.paths(to); to.Text == "" || fl.protectedFolder(list) == "" {
		return ""
	}
	if recursive(c.Words[1:]) {
		return name + " may write any file in " + shorten(to.Text) + ", including start-up files"
	}
	for _, w := range arriving {
		if why := fl.wordReason(w); why != "" {
			return why
		}
		if list, _ := fl.resolver.paths(w); name == "mv" && fl.protectedFolder(list) != "" {
			return "mv may write start-up files in " + shorten(w.Text)
		}
		if w.Glob && strings.ContainsAny(path.Base(w.Text)[:1], ".[") {
			return name + " may write start-up files in " + shorten(to.Text)
		}
	}
	return ""
}

// applies reports whether a git command is git apply.
func applies(c shell.Command) bool {
	i := shell.GitSubcommand(c.Words)
	return i < len(c.Words) && c.Words[i].Text == "apply"
}

// protectedFolder returns the folder of the list in which a file may be protected: the workspace
// itself, with .git and the settings of editors and agents, a home folder, one that contains it, or
// one with settings of programs. A folder below the workspace belongs to the agent, except for
// files that are protected by name.
func (fl *floor) protectedFolder(list []string) string {
	for _, f := range list {
		if f == fl.resolver.root {
			return f
		}
		home := homeFolder.MatchString(fold(f)) || fl.includesRoot([]string{f}, false)
		if _, in := relativeTo(f, fl.resolver.root); in && !home {
			if fl.fileReason([]string{f}) != "" {
				return f
			}
			continue
		}
		if home || fl.fileReason([]string{f}) != "" {
			return f
		}
		for _, p := range protectedInFolders {
			if fl.fileReason([]string{path.Join(f, p)}) != "" {
				return f
			}
		}
	}
	return ""
}
