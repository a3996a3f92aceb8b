package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// startsIn are the options with which launchers start their command in another folder.
var startsIn = map[string]into{
	"env": {letters: "C", longs: []string{"--chdir"}}, "genv": {letters: "C", longs: []string{"--chdir"}},
	"sudo": {letters: "DR", longs: []string{"--chdir", "--chroot"}}, "run0": {letters: "D", longs: []string{"--chdir"}},
	"unshare": {letters: "wR", longs: []string{"--wd", "--root"}}, "nsenter": {longs: []string{"--wd", "--root"}},
	"start-stop-daemon": {letters: "dr", longs: []string{"--chdir", "--chroot"}}, "daemonize": {letters: "c"},
	"parallel": {longs: []string{"--wd", "--workdir"}}, "proot": {letters: "rwR", longs: []string{"--rootfs", "--cwd", "--pwd"}},
	"nodemon": {longs: []string{"--cwd"}}, "watchexec": {longs: []string{"--workdir"}}, "mise": {letters: "C", longs: []string{"--cd"}},
	"conda": {longs: []string{"--cwd"}}, "git": {letters: "C", longs: []string{"--work-tree"}}, "chpst": {}, "capsh": {longs: []string{"--chroot"}},
	"poetry": {letters: "CP", longs: []string{"--directory", "--project"}}, "uv": {longs: []string{"--directory", "--project"}},
	"npm": {letters: "C", longs: []string{"--prefix"}}, "npx": {longs: []string{"--prefix"}}, "pnpm": {letters: "C", longs: []string{"--dir"}},
	"yarn": {longs: []string{"--cwd"}}, "bun": {longs: []string{"--cwd"}},
}

// startedIn handles commands whose launcher may start c in another folder.
func (p *place) startedIn(all []shell.Command, c shell.Command) {
	if c.Parent < 0 || c.Parent >= len(all) || p.dirs == nil {
		return
	}
	by := all[c.Parent]
	name := base(by.Words[0].Text)
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
		p.also(shell.Word{Text: "~", Tilde: true})
	case "chroot":
		if rest := operands(words, ""); len(rest) > 0 {
			p.also(rest[0])
		}
	case "git": // programs that git starts run in the top folder
		if slices.ContainsFunc(words, func(w shell.Word) bool { return w.Text == "submodule" }) {
			p.dirs, p.moved = nil, true
			return
		}
		p.dirs = p.repository(p.dirs)
	}
	o := startsIn[name]
	for i := range o.letters {
		for _, v := range values(words, o.letters[i], "") {
			p.also(v)
		}
	}
	for _, long := range o.longs {
		for _, v := range values(words, 0, long) {
			p.also(v)
		}
	}
}

// also adds a folder in which a command may run.
func (p *place) also(w shell.Word) {
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
		if to = p.real(to); !slices.Contains(next, to) {
			next = append(next, to)
		}
	}
	p.dirs = next
	if w.Dynamic || w.Odd || w.Glob || len(next) > maxFolders {
		p.dirs = nil
	}
}

// into lists the options that name the folder in which a program works or to which it writes.
type into struct {
	letters string
	longs   []string
}
