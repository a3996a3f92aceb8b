package policy

import (
	"cmp"
	"path"
	"slices"

	"fairlead/gateway/peer/shell"
)

// The machine keeps commands from changing the files of the floor while they run. An answer lifts
// that for the files that its question named, and for nothing else. What git itself records, such
// as the branches of a remote, needs no question: the command may change it, and a look
// afterwards puts back everything that git does not record. So a hook of the person that starts
// code of the project while git runs gains nothing.

// maxLifts is the number of files that one call may name.
const maxLifts = 64

// lifts are the protected files that a call may change if it runs.
type lifts struct {
	floor *floor
	paths []string
	// records are those of which git records a part; none is among paths.
	records []string
}

// add records files that a part of the call may change.
func (l *lifts) add(p *Part, files []string) {
	for _, f := range files {
		has := slices.ContainsFunc(p.Changes, func(have string) bool { return isIn(f, have) })
		if !has && len(l.paths) < maxLifts {
			p.Changes = append(p.Changes, f)
			l.paths = append(l.paths, f)
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
		for ; isIn(dir, fl.resolver.places.root); dir = path.Dir(dir) {
			list = append(list, path.Join(dir, ".git", name))
			if dir == fl.resolver.places.root {
				break
			}
		}
	}
	return list
}

// gitRecords are the files in .git in which git itself records branches, remotes, submodules and
// work trees, by its subcommand. Their content then names no program.
var gitRecords = map[string][]string{
	"branch": {"config"}, "checkout": {"config"}, "switch": {"config"}, "push": {"config"}, "remote": {"config"}, "submodule": {"config", "modules"},
	"sparse-checkout": {"config", "config.worktree"}, "worktree": {"worktrees"},
}

// addRecords lifts what git itself records, and what a plain rm or git removes as a whole, if no
// code that the reader has not seen runs at the same time: switching to a branch of a remote, and
// removing a clone or a work tree, must work without a question.
func (l *lifts) addRecords(facts shell.Facts, in []folders) {
	if len(facts.Findings) > 0 || slices.ContainsFunc(facts.Assigns, func(a shell.Assign) bool { return !harmlessVariable.MatchString(a.Name) }) {
		return
	}
	var records, files, removed []string
	onlyRemoves := len(facts.Redirects) == 0
	for i, c := range facts.Commands {
		if !isStatic(c) || c.Guess || runsCode(c) != "" || i >= len(in) {
			return
		}
		at := *l.floor.resolver
		at.dirs = in[i]
		if slices.ContainsFunc(guardsOf(c, &at), func(h guard) bool { return h.opaque || h.containable }) {
			return
		}
		fl := &floor{call: l.floor.call, resolver: &at}
		name := baseName(c.Words[0].Text)
		switch sub := shell.GitSubcommand(c.Words); {
		case name == "rm":
			removed = append(removed, fl.folders(operands(c.Words[1:], ""))...)
		case name == "git" && sub < len(c.Words) && !hasOptions(c.Words[1:sub]):
			files = append(files, fl.removedFiles(c.Words[sub].Text, c.Words[sub+1:])...)
			for _, file := range gitRecords[c.Words[sub].Text] {
				records = append(records, fl.repositories(file)...)
			}
			onlyRemoves = onlyRemoves && c.Words[sub].Text == "worktree"
		default:
			onlyRemoves = onlyRemoves && (readers[name] || noFileArguments[name] || name == "cd")
		}
	}
	if onlyRemoves { // else another command could write what was removed
		files = append(files, removed...)
	}
	l.add(&Part{}, files)
	for _, f := range records {
		if !slices.Contains(append(l.paths, l.records...), f) && len(l.records) < maxLifts {
			l.records = append(l.records, f)
		}
	}
}

// removedFiles returns what a subcommand of git removes from the work tree.
func (fl *floor) removedFiles(sub string, words []shell.Word) (list []string) {
	for len(words) > 0 && isFlag(words[0].Text) {
		words = words[1:]
	}
	if len(words) > 1 && slices.Contains([]string{"worktree remove", "worktree move", "submodule deinit"}, sub+" "+words[0].Text) {
		list = append(list, fl.folders(operands(words[1:], ""))...)
	}
	return list
}

// folders returns the folders below the workspace that words name and that are not protected
// themselves.
func (fl *floor) folders(words []shell.Word) (list []string) {
	for _, w := range words {
		for _, f := range fl.resolver.pathsOf(w) {
			if f != fl.resolver.places.root && isIn(f, fl.resolver.places.root) && fl.folderReason([]string{f}) == "" {
				list = append(list, f)
			}
		}
	}
	return list
}

func hasOptions(words []shell.Word) bool {
	return slices.ContainsFunc(words, func(w shell.Word) bool { return isFlag(w.Text) })
}

// requestedParts returns the parts that ask about the protected files that the caller or the
// machine says that the call changes.
func (l *lifts) requestedParts(names []string) (parts []Part) {
	for _, name := range names {
		list, known := l.floor.resolver.paths(shell.Word{Text: name})
		p := Part{Kind: "file", Text: name, Verdict: Ask, Floor: true, byRule: true}
		why := "commands may not change unasked"
		if l.floor.call.Command == "" {
			why = "can start programs later"
		}
		p.Reason = cmp.Or(l.floor.folderReason(list), "Changes "+shorten(name)+", which "+why)
		if !known || len(list) == 0 {
			p.Reason = "The place of " + shorten(name) + " is unknown"
			list = nil
		}
		l.add(&p, list)
		parts = append(parts, p)
	}
	return parts
}
