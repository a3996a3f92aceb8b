package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// enterLaunched handles commands whose launcher may start c in another folder.
func (p *pathResolver) enterLaunched(all []shell.Command, c shell.Command) {
	if c.Parent < 0 || c.Parent >= len(all) || p.dirs == nil {
		return
	}
	by := all[c.Parent]
	name := baseName(by.Words[0].Text)
	words := by.Words[1:]
	switch name {
	case "systemd-run":
		if !hasLong(words, "-d") && !hasLong(words, "--same-dir") {
			p.dirs, p.moved = nil, true // the service manager's folder
		}
	case "find", "gfind":
		if hasLong(words, "-execdir") || hasLong(words, "-okdir") {
			p.dirs, p.moved = nil, true
		}
	case "ssh", "mosh", "rsh", "autossh", "su", "runuser":
		p.addFolder(shell.Word{Text: "~", Tilde: true})
	case "chroot":
		if rest := operands(words, ""); len(rest) > 0 {
			p.addFolder(rest[0])
		}
	case "git": // programs that git starts run in the top folder
		if slices.ContainsFunc(words, func(w shell.Word) bool { return w.Text == "submodule" }) {
			p.dirs, p.moved = nil, true
			return
		}
		p.dirs = p.repository(p.dirs)
	}
	for _, a := range tableAccesses("in:"+name, words) {
		p.addFolder(a.word)
	}
}

// addFolder adds a folder in which a command may run.
func (p *pathResolver) addFolder(w shell.Word) {
	p.moved = true
	next := slices.Clone(p.dirs)
	for _, d := range p.dirs {
		to := clean(w.Text)
		switch {
		case w.Tilde || strings.HasPrefix(w.Text, "~"):
			if p.home == "" || w.Text != "~" && !strings.HasPrefix(w.Text, "~/") {
				p.dirs = nil
				return
			}
			to = path.Join(p.home, strings.TrimPrefix(w.Text, "~"))
		case !isAbs(to):
			to = path.Join(d, to)
		}
		if to = p.realPath(to); !slices.Contains(next, to) {
			next = append(next, to)
		}
	}
	p.dirs = next
	if w.Dynamic || w.Ambiguous || w.Glob || len(next) > maxFolders {
		p.dirs = nil
	}
}
