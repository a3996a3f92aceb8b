package policy

import (
	"path"
	"regexp"
	"slices"

	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/policy/shell"
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
		return name + " runs a command as another user"
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
		own = fl.resolver.realPath(clean(own))
		return isIn(fold(f)+"/", fold(own)) && !(isIn(fl.resolver.root, own) && isIn(f, fl.resolver.root))
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
		switch e, ok := sensitive.Find(low, fold(fl.resolver.home), sensitive.Startup|sensitive.Secret); {
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
		if e, ok := sensitive.FindBelow(fold(f), fold(fl.resolver.home), sensitive.Startup); ok {
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
