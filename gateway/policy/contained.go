package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
	"fairlead/gateway/protocol"
)

// A machine that contains commands (see [Call.Contained]) keeps protected files, secrets, other
// folders and the network from everything that a command starts, and puts back what changed all the
// same. There, the reader needs not ask merely because it does not know a word:
//
//   - A rule with ** covers options and words that are not in the program's table, files of the
//     workspace that they make the program write, another repository in the workspace, and
//     queries of a database there. It covers words that are known only when the command runs if a
//     reader gets them, or one of most programs that find and xargs start.
//   - If the default allows and no rule restricts anything, the shell may run a file of the
//     workspace: another shell could do the same.
//   - Variables of the text itself are harmless, unless shells or programs are known to read them.
//   - Variables are harmless unless they are known to change what programs do, and all are if the
//     default allows and no rule restricts anything.
//   - Unpacking an archive in the workspace is not the floor, and neither is a patch that the machine
//     has read before: it names the protected files in it.
//   - Its private /tmp is like a folder of the workspace.
//   - Deny rules about files are enforced for code that is not in the command, for names that only the
//     running shell knows, and for folders that a program reads or writes in: what exists is hidden or
//     protected, and what a command creates is set aside afterwards ([Sandbox.SetsAside]).
//
// It still asks for words that are known to run code, that name a protected file or a place outside
// the workspace, and for what no machine contains.

// isContained reports whether the machine keeps a call's command from all of these.
func (q Request) isContained() bool {
	ok, _ := q.Host.Protects()
	if !ok || q.Effect != protocol.EffectExec || q.Preview == nil || q.Preview.Input != nil || !q.blocksNetwork() || !sandboxOf(q.Host).Writes {
		return false
	}
	return slices.ContainsFunc(q.Host.Enforcement.Checks, func(c protocol.EnforcedCheck) bool { return c.ID == "fs.read.secrets" && c.Enforced })
}

// keeps reports whether the machine enforces a deny rule against the use of its files by tools,
// whatever a command does. See [fileMatcher.commandRules].
func (fm *fileMatcher) keeps(r *rule, tools []string) bool {
	if !fm.call.Contained || r.Verdict != Deny || r.cwd != "" {
		return false
	}
	patterns := fm.absolute(r)
	writes := slices.ContainsFunc(tools, mayWrite) && fm.appliesToAny(r, writing)
	reads := fm.appliesToAny(r, reading) && slices.ContainsFunc(tools, func(t string) bool { return !mayWrite(t) })
	return len(patterns) > 0 && !(writes && fm.isUnseen(r)) && (!reads || fm.resolver.isFindable(patterns))
}

// isUnseen reports whether commands can create files of a rule where no look afterwards finds them.
func (fm *fileMatcher) isUnseen(r *rule) bool {
	s := fm.call.Sandbox
	isSeen := func(dir string) bool {
		return slices.ContainsFunc(s.SetsAside, func(place string) bool {
			return isIn(fm.resolver.places.realPath(clean(dir)), fm.resolver.places.realPath(clean(place)))
		})
	}
	return slices.ContainsFunc(s.Writable, func(dir string) bool { return !isSeen(dir) && fm.mayConcern(r, dir) })
}

// mayConcern reports whether a rule may be about a folder or something in it.
func (fm *fileMatcher) mayConcern(r *rule, dir string) bool {
	dir = clean(dir)
	return fm.resolver.places.match(r.path, dir, true) || fm.resolver.places.within(r.path, dir, false) != none || r.path.home && fm.resolver.places.home == ""
}

// isSeparate reports whether the files that a machine protects are not all that a program's use of a
// path can affect: version control has other copies of their contents, and would stop half-way at a
// protected one; containers and other machines are not contained.
func isSeparate(name string) bool {
	return versionControl[name] || remotePrograms[name] || guardedLike[name] == "docker" || name == "docker"
}

var versionControl = set("git hg svn jj fossil bzr brz cvs darcs pijul sl")

// isContained reports whether the machine prevents what a word may do that no rule contains. Words
// that are no options must belong to a rule about the whole program, and an alias of git may be a
// command that a rule restricts.
func (ma *matcher) isContained(h guard, c shell.Command, isWhole bool) bool {
	name := baseName(c.Words[0].Text)
	if !ma.call.Contained || !h.containable || remotePrograms[name] && h.files == nil || h.at >= 0 && h.unknown && !isWhole && !isFlag(c.Words[h.at].Text) {
		return false
	}
	if unstoppable[name] || h.at > 0 && isUnstoppable(c.Words[h.at].Text) {
		return false
	}
	if h.opaque && len(ma.set.strict[name])+len(ma.set.anyProgram) > 0 {
		return false
	}
	if h.files != nil {
		return !slices.ContainsFunc(h.files, ma.resolver.namesOutside)
	}
	return h.at < 0 || name == "sed" || !slices.ContainsFunc(c.Words[h.at:min(h.at+2, len(c.Words))], ma.resolver.namesOutside)
}

// isUnstoppable reports whether a word is such an option, or a beginning of one that programs accept.
func isUnstoppable(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	for option := range unstoppable {
		if name == option || len(name) > 4 && strings.HasPrefix(option, name) && isFlag(name) {
			return true
		}
	}
	return false
}

// namesOutside reports whether a word may be a path outside the workspace and the other folders that
// the machine looks at after a command, such as its private /tmp.
func (p *pathResolver) namesOutside(w shell.Word) bool {
	isKept := func(f string) bool {
		return isIn(p.places.realPath(f), p.places.root) || slices.ContainsFunc(p.call.Sandbox.SetsAside, func(dir string) bool { return isIn(p.places.realPath(f), p.places.realPath(clean(dir))) })
	}
	return slices.ContainsFunc(possiblePaths(w), func(s shell.Word) bool {
		list, ok := p.paths(s)
		return leavesFolder(s.Text) && !(ok && len(list) > 0 && !slices.ContainsFunc(list, func(f string) bool { return !isKept(f) }))
	})
}

// secretVariable matches words with variables that may hold a secret.
var secretVariable = regexp.MustCompile(`(?i)\$.*(secret|token|passw|key|credential|private|auth)`)

var patchers = set("git patch gpatch")
