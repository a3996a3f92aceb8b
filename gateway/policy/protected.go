package policy

import (
	"path"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/policy/shell"
)

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

// decideFiles decides a call of a tool that runs no command.
func (ev *evaluation) decideFiles() {
	if len(ev.call.Paths) == 0 {
		ev.addPart(ev.decideAccess(ev.call.Tool, "call", ev.call.Tool, nil, true))
	}
	write, floor, protected := mayWrite(ev.call.Tool), false, ev.floor.fileReason
	if ev.call.Whole {
		protected = ev.floor.folderReason
	}
	for _, p := range ev.call.Paths {
		list, ok := ev.resolver.paths(shell.Word{Text: p})
		part := ev.decideAccess(ev.call.Tool, "file", p, list, ok)
		if why := protected(list); write && why != "" && part.Verdict != Deny {
			part.byRule, floor = true, true
			part.Verdict, part.Floor, part.Rule, part.Reason = Ask, true, "", why
		}
		ev.addPart(part)
	}
	if !write || floor || ev.call.Named == "" {
		return
	}
	list, _ := ev.resolver.paths(shell.Word{Text: ev.call.Named, Tilde: strings.HasPrefix(ev.call.Named, "~")})
	if why := protected(list); why != "" {
		ev.addPart(Part{Kind: "file", Text: ev.call.Named, Verdict: Ask, Floor: true, Reason: why, byRule: true})
	}
}

// mayWrite reports whether a file tool may change files: every tool that is not known to be
// read-only may.
func mayWrite(tool string) bool {
	switch tool {
	case "Read", "Glob", "Grep":
		return false
	}
	return true
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

// copyReason returns the reason why the target of a copy is protected: for a file by its new name,
// for a folder also by its possible contents.
func (fl *floor) copyReason(c shell.Command, name string) string {
	_, list := copyTargets(c, name)
	check := fl.fileReason
	if name == "mv" || name == "gmv" || name == "ln" || name == "gln" || recursive(c.Words[1:]) {
		check = fl.folderReason
		if to := operands(c.Words[1:], "tSgmo"); len(to) > 1 && !to[len(to)-1].Dynamic {
			list = append(list, to[len(to)-1])
		}
	}
	for _, w := range list {
		files, _ := fl.resolver.paths(w)
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
