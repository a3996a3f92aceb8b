package policy

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/glob"
	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/peer/shell"
)

// The floor: calls that need an approval whatever the rules say.

var diskTools = regexp.MustCompile(`^(mkfs(\..+)?|mke2fs|fdisk|sfdisk|gdisk|sgdisk|parted|` +
	`wipefs|blkdiscard|diskutil|format|cfdisk|hdparm|badblocks)$`)

var device = regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|mapper/|md|sr)[^/]*`)

// reason returns the reason why a command needs an approval whatever the rules say, or "".
func (fl *floor) reason(c shell.Command) string {
	if c.Words[0].Dynamic {
		return ""
	}
	name := baseName(c.Words[0].Text)
	for _, check := range []func(shell.Command, string) string{fl.commandReason, fl.writeReason, fl.outputReason, fl.unpackReason, fl.ownReason, fl.modeReason} {
		if why := check(c, name); why != "" {
			return why
		}
	}
	return ""
}

// commandReason returns the reason for commands that need an approval because of their effect.
func (fl *floor) commandReason(c shell.Command, name string) string {
	switch {
	case userSwitchers[name]:
		return switchReason(c, name)
	case (name == "fairlead" || name == "fairlead-node") && !isReadOnlyCommand(c.Words[1:]):
		return "Only you may control Fairlead"
	case diskTools.MatchString(name):
		return name + " may erase a disk"
	case name == "rm":
		return fl.removalReason(c)
	case name == "find" || name == "gfind":
		return fl.findReason(c)
	}
	for _, a := range tableAccesses("floor:"+name, c.Words[1:]) {
		return name + " " + verbs[a.verb].text
	}
	return ""
}

// administrators are the programs that run a command as the administrator by default.
var administrators = set("sudo doas pkexec run0 sudoedit visudo")

// switchReason says as which user a program runs a command.
func switchReason(c shell.Command, name string) string {
	w := c.Words
	switch {
	case len(w) > 3 && w[1].Text == "-u" && !w[2].Dynamic && w[2].Text != "root" && !isFlag(w[3].Text):
		return "Runs as the user " + shorten(w[2].Text) + " (" + name + ")"
	case administrators[name]:
		return "Runs as administrator (" + name + ")"
	}
	return "Runs as another user (" + name + ")"
}

// isReadOnlyCommand reports whether a command of our own program cannot answer its own approval.
func isReadOnlyCommand(words []shell.Word) bool {
	if len(words) == 0 || words[0].Dynamic {
		return len(words) == 0
	}
	switch words[0].Text {
	case "status", "doctor", "version", "help", "completion", "--version", "--help", "-h":
		return true
	case "approvals":
		return len(words) > 1 && words[1].Text == "test" && !words[1].Dynamic
	}
	return false
}

const ourFiles = "Only you may change Fairlead's own files"

// isOwn reports whether a file is Fairlead's own. A workspace among them belongs to the agent.
func (fl *floor) isOwn(f string) bool {
	return slices.ContainsFunc(fl.call.Own, func(own string) bool {
		own = fl.resolver.places.realPath(clean(own))
		return isIn(fold(f)+"/", fold(own)) && !(isIn(fl.resolver.places.root, own) && isIn(f, fl.resolver.places.root))
	})
}

// ownReason finds commands that name one of Fairlead's own files and do more than read it.
func (fl *floor) ownReason(c shell.Command, name string) string {
	if len(fl.call.Own) == 0 || readers[name] || noFileArguments[name] {
		return ""
	}
	for _, w := range c.Words[1:] {
		for _, s := range possiblePaths(w) {
			if !s.Dynamic && s.Text != "" && slices.ContainsFunc(fl.resolver.pathsOf(s), fl.isOwn) {
				return ourFiles
			}
		}
	}
	return ""
}

// modeReason returns the reason why a change of modes or owners concerns a whole system folder.
func (fl *floor) modeReason(c shell.Command, name string) string {
	if name != "chmod" && name != "chown" && name != "chgrp" || !hasFlag("-R", c.Words[1:]) {
		return ""
	}
	for _, w := range c.Words[1:] {
		if list, _ := fl.resolver.paths(w); !isFlag(w.Text) && fl.includesRoot(list, false) {
			return name + " would change everything in " + shorten(w.Text)
		}
	}
	return ""
}

// fileReason returns the reason why writing one of these files needs an approval whatever the rules
// say. Git's own commands name no files in .git: they are checked by their effect.
func (fl *floor) fileReason(list []string) string {
	for _, f := range list {
		low := fold(f)
		switch e, ok := sensitive.Find(low, fold(fl.resolver.places.home), sensitive.Startup|sensitive.Secret); {
		case device.MatchString(low):
			return "Writes directly to a disk"
		case fl.isOwn(f):
			return ourFiles
		case ok && e.Kind&sensitive.Startup != 0:
			return "Changes " + shorten(path.Base(f)) + ", which can start programs later (" + e.Program() + ")"
		case ok:
			return "Changes " + shorten(path.Base(f)) + ", which holds passwords, tokens or private data (" + e.Program() + ")"
		}
	}
	return ""
}

// folderReason is fileReason for a folder with everything in it.
func (fl *floor) folderReason(list []string) string {
	for _, f := range list {
		if e, ok := sensitive.FindBelow(fold(f), fold(fl.resolver.places.home), sensitive.Startup); ok {
			return "Changes " + shorten(path.Base(f)) + ", which may contain files that start programs later (" + e.Program() + ")"
		}
	}
	return fl.fileReason(list)
}

func (fl *floor) wordReason(w shell.Word) string {
	return fl.fileReason(fl.resolver.pathsOf(w))
}

func (fl *floor) wordsReason(words []shell.Word) string {
	for _, w := range words {
		if why := fl.wordReason(w); why != "" {
			return why
		}
	}
	return ""
}

func (fl *floor) removalReason(c shell.Command) string {
	recursive := hasFlag("-r", c.Words[1:])
	for _, w := range c.Words[1:] {
		if w.Dynamic {
			return "What rm would remove is known only when the command runs"
		}
		if !recursive {
			continue
		}
		if rest, ok := strings.CutPrefix(w.Text, shell.Temporary); ok && (mayContain(rest, fl.resolver.places.root) || mayContain(rest, fl.resolver.places.home)) {
			return "Removes everything in " + shorten(rest) + " if mktemp fails"
		}
		if takes, known := fl.removesRoot(w); takes {
			return "Removes everything in " + shorten(w.Text)
		} else if !known && (w.Tilde || fl.resolver.dirs == nil && !isAbs(w.Text)) {
			return "The folder that rm would remove is unknown"
		}
	}
	return ""
}

// findReason decides about find -delete and find -exec rm without a condition.
func (fl *floor) findReason(c shell.Command) string {
	removes, narrow := false, false
	for i, w := range c.Words[1:] {
		t := w.Text
		switch {
		case t == "-delete", (t == "-exec" || t == "-execdir") && i+2 < len(c.Words) && baseName(c.Words[i+2].Text) == "rm":
			removes = true
		case isFlag(t) && t != "-H" && t != "-L" && t != "-P" && t != "-type" && t != "-depth" && t != "-mindepth" && t != "-f":
			narrow = narrow || !removes
		}
	}
	if !removes || narrow {
		return ""
	}
	for _, w := range findStarts(c.Words[1:]) {
		if w.Dynamic {
			return "What find would remove is known only when the command runs"
		}
		if takes, _ := fl.removesRoot(w); takes {
			return "Removes everything in " + shorten(w.Text)
		}
	}
	return ""
}

// includesRoot reports whether a path, or what its wildcards can match, is or contains the root, a
// drive, the home folder or, if workspace is set, the workspace.
func (fl *floor) includesRoot(list []string, workspace bool) bool {
	root := fl.resolver.places.root
	return slices.ContainsFunc(foldersMatched(list), func(f string) bool {
		isTop := strings.LastIndexByte(f, '/') == 0 && f != root && f != "/tmp" // /etc, /usr, /var …
		return f == "/" || f == "~" || drive(f) && len(f) <= 3 || f == "/home" || f == "/Users" || f == "/root" || isTop ||
			mayContain(f, fl.resolver.places.home) || workspace && mayContain(f, root)
	})
}

var (
	brackets = regexp.MustCompile(`\[.*\]`)
	// zshPattern matches a part of a path that may be a pattern in zsh only.
	zshPattern = regexp.MustCompile(`[^/]*[()<>^#|][^/]*|[^/]+~[^/]*`)
)

// removesRoot reports whether removing a word's paths can remove everything in one of these folders.
func (fl *floor) removesRoot(w shell.Word) (takes, known bool) {
	if fl.zsh && (w.Glob || w.Ambiguous) {
		w.Text = zshPattern.ReplaceAllString(w.Text, "*")
	}
	list, known := fl.resolver.paths(w)
	return fl.includesRoot(list, true), known || w.Glob && !matchesAll(path.Base(w.Text))
}

// partPattern converts a part of a path to a pattern for path.Match that matches at least as much.
func partPattern(part string) string {
	return strings.ReplaceAll(brackets.ReplaceAllString(part, "*"), `\`, "?")
}

// matchesAll reports whether a part of a path may match every file, or all with a dot.
func matchesAll(part string) bool {
	p := partPattern(part)
	return strings.ContainsAny(p, "*?") && strings.Trim(p, "*?.") == ""
}

// matchesParent reports whether a part of a path matches the parent folder, as .* does in dash.
func matchesParent(part string) bool {
	p := partPattern(part)
	ok, err := path.Match(p, "..")
	return strings.ContainsAny(p, "*?") && p[0] == '.' && (ok || err != nil)
}

// foldersMatched adds the folders that wildcards stand for: dir/* is dir, dir/.* also its parent.
func foldersMatched(list []string) []string {
	list = slices.Clone(list)
	for i := 0; i < len(list) && len(list) < maxNames; i++ {
		parts := strings.Split(list[i], "/")
		last := len(parts) - 1
		for k, part := range parts {
			if k > 0 && matchesParent(part) {
				list = append(list, cmp.Or(strings.Join(slices.Delete(slices.Clone(parts), k-1, k+1), "/"), "/"))
			}
		}
		if last > 0 && matchesAll(parts[last]) {
			list = append(list, cmp.Or(strings.Join(parts[:last], "/"), "/"))
		}
	}
	return list
}

// mayContain reports whether a path with wildcards can match a folder or one of its parents.
func mayContain(f, folder string) bool {
	if folder == "" {
		return false
	}
	pattern := strings.Split(fold(f), "/")
	for i, part := range pattern {
		pattern[i] = partPattern(part)
	}
	for at := fold(folder); ; at = path.Dir(at) {
		if glob.Match(pattern, strings.Split(at, "/")) {
			return true
		}
		if at == path.Dir(at) {
			return false
		}
	}
}
