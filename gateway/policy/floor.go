package policy

import (
	"regexp"
	"slices"
	"strings"

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
	if why := fl.commandReason(c, name); why != "" {
		return why
	}
	if why := fl.writeReason(c, name); why != "" {
		return why
	}
	if why := fl.outputReason(c, name); why != "" {
		return why
	}
	if why := fl.unpackReason(c, name); why != "" {
		return why
	}
	if fl.accessesOwn(c, name) {
		return ourFiles
	}
	if (name == "chmod" || name == "chown" || name == "chgrp") && hasFlag(glob{parts: []string{"-R"}}, c.Words[1:]) {
		for _, w := range c.Words[1:] {
			if list, _ := fl.resolver.paths(w); !isFlag(w.Text) && fl.includesRoot(list, false) {
				return name + " would change everything in " + shorten(w.Text)
			}
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
	case name == "crontab" && !(len(c.Words) == 2 && c.Words[1].Text == "-l"), name == "at", name == "batch", name == "schtasks":
		return name + " sets up a program that starts by itself"
	case (name == "systemctl" || name == "launchctl") && len(c.Words) > 1 && slices.ContainsFunc(c.Words[1:], func(w shell.Word) bool {
		return w.Text == "enable" || w.Text == "load" || w.Text == "bootstrap" || w.Text == "submit"
	}):
		return name + " sets up a program that starts by itself"
	case name == "git":
		return gitConfig(c)
	}
	return ""
}

// writeReason returns the reason why a program that changes the files in its arguments would
// change a protected one.
func (fl *floor) writeReason(c shell.Command, name string) string {
	if i := shell.GitSubcommand(c.Words); name == "git" && i < len(c.Words) && c.Words[i].Text == "mv" {
		c.Words, name = c.Words[i:], "mv"
	}
	if !writers[name] && !rareWriters[name] && c.Via != "find" {
		return ""
	}
	for _, w := range c.Words[1:] {
		if w.Dynamic || isFlag(w.Text) && !strings.Contains(w.Text, "=") {
			continue
		}
		list, _ := fl.resolver.paths(w)
		if _, v, ok := strings.Cut(w.Text, "="); ok {
			more, _ := fl.resolver.paths(shell.Word{Text: v, Tilde: strings.HasPrefix(v, "~")})
			list = append(list, more...)
		}
		// cp only reads its sources.
		last := w.Text == c.Words[len(c.Words)-1].Text
		if why := fl.fileReason(list); why != "" && (name != "cp" || writesElsewhere(name, c.Words) || last || device.MatchString(w.Text)) {
			return why
		}
	}
	return fl.copyReason(c, name)
}

// isReadOnlyCommand reports whether a command of our own program only reads: with the person's
// token, it could answer its own approval.
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

// removalReason decides about rm.
func (fl *floor) removalReason(c shell.Command) string {
	recursive := hasFlag(glob{parts: []string{"-r"}}, c.Words[1:])
	ended := false
	for _, w := range c.Words[1:] {
		if w.Dynamic {
			return "What rm would remove is known only when the command runs"
		}
		if !ended && isFlag(w.Text) {
			ended = w.Text == "--"
			continue
		}
		if !recursive {
			continue
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
	var starts []shell.Word
	for i, w := range c.Words[1:] {
		t := w.Text
		switch {
		case t == "-delete":
			removes = true
		case (t == "-exec" || t == "-execdir") && i+2 < len(c.Words) && baseName(c.Words[i+2].Text) == "rm":
			removes = true
		case isFlag(t) && t != "-H" && t != "-L" && t != "-P" && t != "-type" && t != "-depth" && t != "-mindepth" && t != "-f":
			narrow = narrow || !removes
		case len(starts) == i && !narrow && !isFlag(t):
			starts = append(starts, w)
		}
	}
	if !removes || narrow {
		return ""
	}
	if len(starts) == 0 {
		starts = []shell.Word{{Text: "."}}
	}
	for _, w := range starts {
		if w.Dynamic {
			return "What find would remove is known only when the command runs"
		}
		if takes, _ := fl.removesRoot(w); takes {
			return "Removes everything in " + shorten(w.Text)
		}
	}
	return ""
}

// includesRoot reports whether a path is the root, a drive, the home folder or, if workspace is
// set, the workspace, or contains one of them. A path with wildcards counts as everything that it
// can match.
func (fl *floor) includesRoot(list []string, workspace bool) bool {
	for _, f := range foldersMatched(list) {
		if f == "/" || f == "~" || drive(f) && len(f) <= 3 || f == "/home" || f == "/Users" || f == "/root" {
			return true
		}
		if top := strings.Count(f, "/") == 1 && strings.HasPrefix(f, "/"); top && f != fl.resolver.root && f != "/tmp" {
			return true // /etc, /usr, /var …
		}
		if mayContain(f, fl.resolver.home) || workspace && mayContain(f, fl.resolver.root) {
			return true
		}
	}
	return false
}

// gitConfig finds writes to git's settings, which can name programs that git runs.
func gitConfig(c shell.Command) string {
	i := shell.GitSubcommand(c.Words)
	if i >= len(c.Words) || c.Words[i].Text != "config" {
		return ""
	}
	operands := 0
	for _, w := range c.Words[i+1:] {
		switch t := w.Text; {
		case w.Dynamic:
			return "git config may change which programs git runs"
		case strings.HasPrefix(t, "--get") || t == "-l" || t == "--list" || t == "get" && operands == 0 || t == "list" && operands == 0:
			return ""
		case strings.HasPrefix(t, "--add") || strings.HasPrefix(t, "--unset") || strings.HasPrefix(t, "--re") || t == "-e" || strings.HasPrefix(t, "--ed"):
			operands = 2
		case !isFlag(t):
			operands++
		}
	}
	if operands >= 2 {
		return "git config changes which programs git runs"
	}
	return ""
}

const ourFiles = "Only you may change Fairlead's own files"

// isOwn reports whether a file is one of Fairlead's own. A workspace among them belongs to the
// agent.
func (fl *floor) isOwn(f string) bool {
	for _, own := range fl.call.Own {
		own = fl.resolver.realPath(clean(own))
		if _, in := relativeTo(fold(f)+"/", fold(own)); !in {
			continue
		}
		_, among := relativeTo(fl.resolver.root, own)
		if _, in := relativeTo(f, fl.resolver.root); !among || !in {
			return true
		}
	}
	return false
}

// accessesOwn reports whether a command names one of Fairlead's own files and does more than read
// it.
func (fl *floor) accessesOwn(c shell.Command, name string) bool {
	if len(fl.call.Own) == 0 || readers[name] || noFileArguments[name] {
		return false
	}
	for _, w := range c.Words[1:] {
		for _, s := range possiblePaths(w) {
			if s.Tilde = s.Tilde || strings.HasPrefix(s.Text, "~"); s.Dynamic || s.Text == "" {
				continue
			}
			if list, _ := fl.resolver.paths(s); slices.ContainsFunc(list, fl.isOwn) {
				return true
			}
		}
	}
	return false
}
