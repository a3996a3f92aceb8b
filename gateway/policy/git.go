package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

func guardGit(c shell.Command, p *pathResolver, add func(int, bool, string)) {
	w := c.Words
	sub := shell.GitSubcommand(w)
	for i := 1; i < sub && i < len(w); i++ {
		switch {
		case w[i].Text == "--no-pager", len(w) == 2 && (w[i].Text == "--version" || w[i].Text == "--help"):
		case w[i].Text == "-C" && i+1 < len(w) && p.isRoot(w[i+1]):
			i++
		case w[i].Text == "-C" && i+1 < len(w) && p.isInside(w[i+1]):
			add(i, false, otherRepository(w[i+1].Text))
			add(i+1, false, otherRepository(w[i+1].Text))
			i++
		default:
			add(i, true, "git "+shorten(w[i].Text)+" may change which programs git runs, or where")
		}
	}
	if sub >= len(w) {
		return
	}
	name := w[sub].Text
	if !gitCommands[name] {
		add(sub, true, "git "+shorten(name)+" may be an alias for any command")
	}
	for i := sub + 1; i < len(w); i++ {
		t := w[i].Text
		switch {
		case strings.HasPrefix(t, "ext::") || strings.HasPrefix(t, "fd::"):
			add(noRule, true, "git "+shorten(t)+" runs a program to connect")
		case name == "rebase" && (strings.HasPrefix(t, "-x") || t == "-i" || t == "--interactive"),
			name == "archive" && (strings.HasPrefix(t, "-o") || strings.HasPrefix(t, "--remote")),
			name == "bisect" && t == "run", name == "submodule" && t == "foreach",
			name == "clone" && (strings.HasPrefix(t, "-c") || strings.HasPrefix(t, "-u") || strings.HasPrefix(t, "--conf")),
			name == "difftool" && strings.HasPrefix(t, "-x"), name == "format-patch" && strings.HasPrefix(t, "-o"),
			name == "fetch" && t == "-u", name == "blame" && strings.HasPrefix(t, "--contents"),
			name == "branch" && isPrefixOf("--edit-description", t, 4), name == "grep" && isFlag(t) && strings.Contains(leadingLetters(t[1:], "efABCm-"), "O"),
			name == "rebase" && isPrefixOf("--interactive", t, 5), name == "archive" && isPrefixOf("--remote", strings.SplitN(t, "=", 2)[0], 5),
			name == "blame" && isPrefixOf("--contents", strings.SplitN(t, "=", 2)[0], 6):
			add(i, true, "git "+name+" "+shorten(t)+" may run a program or write a file")
		}
	}
}

// isRoot reports whether a word certainly names the workspace's folder.
func (p *pathResolver) isRoot(w shell.Word) bool {
	list, ok := p.paths(w)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(f string) bool { return !p.sameAsRoot(p.realPath(f)) })
}

// sameAsRoot compares a folder with the workspace's, on Windows ignoring case.
func (p *pathResolver) sameAsRoot(dir string) bool {
	return dir == p.root || drive(dir) && strings.EqualFold(dir, p.root)
}

// otherRepositoryReason returns the reason why a git command may be about another repository than
// the workspace's. A folder below the workspace may contain one too, created by a command or
// unpacked, whose settings name programs that git runs (core.fsmonitor, filters, hooks). A rule for
// exactly that folder covers it; r is nil for an offer.
func (ma *matcher) otherRepositoryReason(c shell.Command, r *rule) string {
	sub := shell.GitSubcommand(c.Words)
	if baseName(c.Words[0].Text) != "git" || sub >= len(c.Words) {
		return ""
	}
	for _, d := range ma.resolver.dirs {
		if !ma.resolver.sameAsRoot(d) && (r == nil || r.cwd == "" || !ma.resolver.is(d, r.cwd, false, false)) {
			return otherRepository(d)
		}
	}
	for i, w := range c.Words[1:sub] {
		if dir := c.Words[i+2]; r == nil && w.Text == "-C" && !ma.resolver.isRoot(dir) {
			return otherRepository(dir.Text)
		}
	}
	return ""
}

func otherRepository(dir string) string {
	return "git may use another repository in " + shorten(dir) + ", whose settings can run programs"
}
