package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// The machine keeps commands from changing the files of the floor while they run. An answer lifts
// that for the files that its question named, and for nothing else.

// maxLifts is the number of files that one call may name.
const maxLifts = 64

// lift records protected files that a part of the call may change if it runs.
func (ev *evaluation) lift(p *Part, files []string) {
	for _, f := range files {
		has := slices.ContainsFunc(p.Changes, func(have string) bool { return isIn(f, have) })
		if !has && len(ev.lifts) < maxLifts {
			p.Changes = append(p.Changes, f)
			ev.lifts = append(ev.lifts, f)
		}
	}
}

// protectedFiles returns the protected files that the words of a command name, and the settings
// that git changes at the command's request.
func (fl *floor) protectedFiles(c shell.Command) (list []string) {
	words := slices.Clone(c.Words[1:])
	_, arriving := copyTargets(c, baseName(c.Words[0].Text))
	for _, w := range append(words, arriving...) {
		for _, s := range possiblePaths(w) {
			if s.Dynamic || s.Glob || s.Text == "" || isFlag(s.Text) {
				continue
			}
			for _, f := range fl.resolver.pathsOf(s) {
				if fl.folderReason([]string{f}) != "" {
					list = append(list, f)
				}
			}
		}
	}
	if i := shell.GitSubcommand(c.Words); baseName(c.Words[0].Text) == "git" && i < len(c.Words) && c.Words[i].Text == "config" {
		list = append(list, fl.repositories("config")...)
	}
	return list
}

// repositories returns a path in the .git of the current folder and of those above it in the
// workspace. The repository is one of them.
func (fl *floor) repositories(name string) (list []string) {
	for _, dir := range fl.resolver.dirs {
		for ; isIn(dir, fl.resolver.root); dir = path.Dir(dir) {
			list = append(list, path.Join(dir, ".git", name))
			if dir == fl.resolver.root {
				break
			}
		}
	}
	return list
}

// gitRecords are the files in .git in which git itself records branches, remotes, submodules and
// work trees, by its subcommand. Their content then names no program.
var gitRecords = map[string]string{
	"branch": "config", "checkout": "config", "switch": "config", "push": "config", "remote": "config", "submodule": "config", "sparse-checkout": "config",
	"worktree": "worktrees",
}

// liftRecords lifts what git itself records, if no code that the reader has not seen runs at the
// same time: switching to a branch of a remote must work without a question.
func (ev *evaluation) liftRecords() {
	var records []string
	for i, c := range ev.facts.Commands {
		if !isStatic(c) || c.Guess || runsCode(c) != "" {
			return
		}
		sub := shell.GitSubcommand(c.Words)
		if baseName(c.Words[0].Text) != "git" || sub >= len(c.Words) || i >= len(ev.folders) {
			continue
		}
		if name := gitRecords[c.Words[sub].Text]; name != "" && !slices.ContainsFunc(c.Words[1:sub], func(w shell.Word) bool { return strings.HasPrefix(w.Text, "-") }) {
			at := *ev.floor.resolver
			at.dirs = ev.folders[i]
			records = append(records, (&floor{resolver: &at}).repositories(name)...)
		}
	}
	if len(ev.facts.Findings) == 0 {
		ev.lift(&Part{}, records)
	}
}

// decideChanges asks about the protected files that the caller says that the command changes.
func (ev *evaluation) decideChanges() {
	for _, name := range ev.call.Changes {
		list, known := ev.resolver.paths(shell.Word{Text: name})
		p := Part{Kind: "file", Text: name, Verdict: Ask, Floor: true, byRule: true}
		p.Reason = cmp.Or(ev.floor.folderReason(list), "Changes "+shorten(name)+", which commands may not change unasked")
		if !known || len(list) == 0 {
			p.Reason = "The place of " + shorten(name) + " is unknown"
			list = nil
		}
		ev.lift(&p, list)
		ev.addPart(p)
	}
}
