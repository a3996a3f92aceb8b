package shell

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/peer/glob"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// refusals are the system's messages when a command tries to change, move or link a protected file,
// in lower case, and the codes that programs print instead.
var refusals = []string{"read-only file system", "device or resource busy", "cross-device link", "erofs", "ebusy", "exdev"}

// unreadable are the messages when a command tries to read a hidden file.
var unreadable = []string{"permission denied", "eacces"}

// findRefused sets which paths the command could not change, because they start programs or because a
// rule denies it, according to its output.
func (j *job) findRefused() {
	output := j.out.tail()
	denied, hidden := j.child.Denied()
	for _, name := range append(refusedPaths(output, refusals, j.command, j.dir, denied), refusedPaths(output, unreadable, j.command, j.dir, hidden)...) {
		if rule := ruleOf(resolveWord(name, j.dir), slices.Concat(denied, hidden), j.rules); !slices.Contains(j.result.ruled, refusedByRule{name, rule}) {
			j.result.ruled = append(j.result.ruled, refusedByRule{name, rule})
		}
	}
	for _, name := range refusedPaths(output, refusals, j.command, j.dir, j.child.Protected()) {
		if !slices.ContainsFunc(j.result.ruled, func(r refusedByRule) bool { return r.path == name }) {
			j.result.refused = append(j.result.refused, name)
		}
	}
}

// refusedByRule is a path that a command could not change or read, and the rule that denies it; empty
// if it is not known which one.
type refusedByRule struct{ path, rule string }

// String says what the agent can do: asking for the path, as for other protected ones, is of no use.
func (r refusedByRule) String() string {
	if r.rule == "" {
		return r.path + " is denied by a rule, which only the person can change."
	}
	return r.path + " is denied by the rule " + strconv.Quote(r.rule) + ", which only the person can change."
}

// ruleOf returns the rule that denies a path, something in it, or a folder that contains it.
func ruleOf(path string, denied []string, rules *protocol.CommandRules) string {
	if rules == nil {
		return ""
	}
	split := func(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
	for _, d := range denied {
		if !workspace.InFolder(path, d) && !workspace.InFolder(d, path) {
			continue
		}
		for _, pattern := range slices.Concat(rules.ReadOnly, rules.Hidden) {
			if glob.Match(split(pattern), split(d)) {
				return pattern
			}
		}
	}
	return ""
}

// refusedPaths returns the protected paths, or folders with some, that a command tried to change in
// vain according to its output. The list may be incomplete: not every program says why it failed.
// Programs that cannot move a file into such a folder, such as "git mv", name only the file; the
// folder is then in the command.
//
// The output is read because nothing else knows. The kernel reports no failed calls to the user: its
// audit log is for root, and fanotify reports what has happened. The supervisor could have every
// call that changes a path wait for it, as it does for programs: opening a file for writing then
// takes 20 µs instead of 5 (BenchmarkWatchedWrites), one call of all commands at a time. Every build
// and every checkout would pay for a note.
func refusedPaths(output string, messages []string, command, dir string, protected []string) (list []string) {
	add := func(names []string) {
		for _, name := range names {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	for line := range strings.Lines(output) {
		low := strings.ToLower(line)
		if !slices.ContainsFunc(messages, func(r string) bool { return strings.Contains(low, r) }) {
			continue
		}
		names := namedIn(line, dir, protected)
		if len(names) == 0 && (strings.Contains(low, "cross-device link") || strings.Contains(low, "exdev")) {
			names = namedIn(command, dir, protected)
		}
		add(names)
	}
	return list
}

// worksOnTree matches the commands of Git that replace many files of the work tree, one after the
// other. Those that a question could name are known before; see [launcher.startupChanges].
var worksOnTree = regexp.MustCompile(`\bgit\b.*\b(am|apply|bisect|checkout|cherry-pick|merge|pull|rebase|reset|restore|revert|stash|switch|submodule)\b`)

// stoppedGit says what to do about a work tree of which Git has changed a part; empty for another
// command, or if it was not refused anything.
func stoppedGit(command string, isRefused bool) string {
	if !isRefused || !worksOnTree.MatchString(command) {
		return ""
	}
	return "Git may have changed a part of the files before that: look at git status, and undo that part (git restore, or the command's --abort) before you repeat the command."
}

// namedIn returns the names under which a line mentions protected paths, or folders that contain
// them where it does not mention more.
func namedIn(line, dir string, protected []string) (names []string) {
	for _, p := range protected {
		if name := mentioned(line, dir, p); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all := slices.Clone(names)
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

// mentioned returns the name under which a line mentions a path, or the nearest folder that contains
// it; empty if it does not.
func mentioned(line, dir, path string) string {
	for at := path; !workspace.InFolder(dir, at); at = filepath.Dir(at) {
		name, err := filepath.Rel(dir, at)
		if err != nil || strings.HasPrefix(name, "..") {
			name = at
		}
		if mentions(line, name, dir) {
			return name
		}
	}
	return ""
}

// mentions reports whether a text contains a name that is not a part of a longer one, except of that
// in the folder.
func mentions(text, name, dir string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		before := text[:from]
		starts := from == 0 || !isNameByte(text[from-1]) && text[from-1] != '/' || strings.HasSuffix(before, dir+"/") || strings.HasSuffix(before, "./")
		if starts && (to == len(text) || !isNameByte(text[to])) {
			return true
		}
		at = to
	}
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}
