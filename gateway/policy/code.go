package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
	"fairlead/gateway/protocol"
)

// isEnforced reports whether the sandbox prevents commands from accessing the files of r.
func (fm *fileMatcher) isEnforced(r *rule) bool {
	s := fm.call.Sandbox
	mayConcern := func(dir string) bool { return fm.mayConcern(r, dir) }
	isLoose := fm.appliesToAny(r, writing) && (!s.Writes || slices.ContainsFunc(s.Writable, mayConcern)) && !fm.keeps(r, writing)
	return !isLoose && (!fm.appliesToAny(r, reading) || fm.isHidden(r))
}

// isHidden reports whether all files of a rule are in one place that commands cannot read.
func (fm *fileMatcher) isHidden(r *rule) bool {
	if fm.keeps(r, reading) {
		return true
	}
	start := r.path.start(fm.resolver.places.root, fm.resolver.places.home)
	start = fold(fm.resolver.places.realPath(path.Join(append([]string{start}, r.path.low[:r.path.fixedParts()]...)...)))
	return slices.ContainsFunc(fm.call.Sandbox.Hidden, func(place string) bool { return isIn(start, fold(fm.resolver.places.realPath(clean(place)))) })
}

// isFindable reports whether the machine hides or protects all files of patterns that exist: it looks
// for those with wildcards in the workspace, and for those without ** also in folders that commands
// cannot write and that do not contain the workspace.
func (p *pathResolver) isFindable(patterns []string) bool {
	isElsewhere := func(file string) bool {
		if !hasWildcard(file) || isIn(file, p.places.root) {
			return false
		}
		parts := strings.Split(file, "/")
		first := slices.IndexFunc(parts, hasWildcard)
		base := p.places.realPath(path.Join("/", strings.Join(parts[:max(first, 0)], "/")))
		isWritable := func(dir string) bool {
			return isIn(base, p.places.realPath(clean(dir))) || isIn(p.places.realPath(clean(dir)), base)
		}
		return !p.call.Sandbox.HidesOutside || first < 2 || slices.Contains(parts, "**") || slices.ContainsFunc(append([]string{p.places.root}, p.call.Sandbox.Writable...), isWritable)
	}
	return !slices.ContainsFunc(patterns, isElsewhere)
}

// unenforcedRule returns a rule about files that nothing enforces against the code that c runs.
func (fm *fileMatcher) unenforcedRule(c shell.Command) (r *rule, why string) {
	what := runsCode(c)
	isLoose := func(r *rule) bool { return fm.appliesToAny(r, anyAccess) && !fm.isEnforced(r) }
	i := slices.IndexFunc(fm.set.fileRestrictions, isLoose)
	if what == "" || i < 0 {
		return nil, ""
	}
	r = fm.set.fileRestrictions[i]
	return r, what + ", which may access " + shorten(r.Path) + ", and " + r.label() + " restricts that"
}

// recordCode records which rules about files are enforced for the code that a command runs.
func (ev *evaluation) recordCode(c shell.Command) {
	if len(ev.set.fileRestrictions) == 0 || c.Guess || c.Words[0].Dynamic || runsCode(c) == "" {
		return
	}
	for _, r := range ev.set.fileRestrictions {
		if !ev.paths.appliesToAny(r, anyAccess) {
			continue
		}
		list := &ev.unenforced
		if ev.paths.isEnforced(r) {
			list = &ev.enforced
		}
		if !slices.Contains(*list, r.Path) {
			*list = append(*list, r.Path)
		}
	}
}

// runsCode describes how a command runs code whose files its words do not name, or returns "". A
// command that it starts by its words is checked separately.
func runsCode(c shell.Command) string {
	name := baseName(c.Words[0].Text)
	words := c.Words[1:]
	switch {
	case strings.ContainsAny(c.Words[0].Text, `/\`) && !system(c.Words[0].Text):
		return shorten(c.Words[0].Text) + " runs code that is not in the command"
	case len(words) == 1 && (words[0].Text == "--version" || words[0].Text == "--help" || words[0].Text == "-h" || words[0].Text == "-V" ||
		words[0].Text == "-v" && !strings.HasPrefix(name, "python") && isVersionOf(name, interpreters)):
		return ""
	case name == "source" || name == ".":
		return name + " runs code that is not in the command"
	case shell.IsShell(name):
		if c.Starts || len(words) == 0 {
			return "" // a shell that reads its script needs an approval anyway
		}
		return name + " runs a script that is not in the command"
	case c.Starts && shell.IsLauncher(name) && name != "direnv":
		return ""
	case isVersionOf(name, interpreters):
		if len(words) == 0 || codeArguments[name] {
			return "" // likewise
		}
		return name + " runs code that is not in the command"
	}
	name = unversionedName(name)
	if as, ok := optionsLike[name]; ok {
		name = as
	}
	if k, ok := programSubcommands[name]; ok {
		return k.runs(name, c)
	}
	if name == "docker" || guardedLike[name] == "docker" || name == "docker-compose" || name == "podman-compose" {
		return startsContainer(words)
	}
	if why := loadsCode(name, words); why != "" || compilers[name] {
		return why
	}
	if selfContained[name] || readers[name] || viewers[name] || noFileArguments[name] || shellBuiltins[name] || movers[name] || copiers[name] || downloaders[name] {
		return ""
	}
	return shorten(name) + " is an unknown program"
}

// startsContainer describes how a command starts an existing container's own program, which may
// have been given any folder. The folders of a new container are in the docker run command.
func startsContainer(words []shell.Word) string {
	rest := operands(words, "HlcfpDn")
	if len(rest) > 1 && (rest[0].Text == "container" || rest[0].Text == "compose") {
		rest = rest[1:]
	}
	if len(rest) == 0 || containerCommands[rest[0].Text] && !rest[0].Dynamic {
		return ""
	}
	return "The container may have access to any folder"
}

func (k subcommands) runs(name string, c shell.Command) string {
	if len(c.Words) == 1 {
		return "" // it prints its usage
	}
	rest := c.Words[2:]
	quiet := hasWord(rest, "--ignore-scripts") && !hasBeginning(rest, "--ignore-scripts=") && !hasBeginning(rest, "--no-ig")
	switch sub := vocabularies[name].fullName(c.Words[1].Text); {
	case c.Words[1].Dynamic:
	case c.Starts && (sub == "exec" || sub == "x"), k.plain[sub] && quiet:
		return ""
	case k.own[sub] && !(strings.HasSuffix(name, "npm") && slices.ContainsFunc(rest, func(w shell.Word) bool { return w.Dynamic || w.Text == "fix" })):
		return ""
	}
	return name + " " + shorten(c.Words[1].Text) + " runs code that is not in the command"
}

// loadsCode describes an option with which a program runs code that the option names.
func loadsCode(name string, words []shell.Word) string {
	for _, w := range words {
		opt, _, _ := strings.Cut(w.Text, "=")
		contains := func(s string) bool { return isFlag(opt) && strings.Contains(opt, s) }
		begins := func(s string) bool { return strings.HasPrefix(opt, s) }
		isCompilers := slices.ContainsFunc(loadingOptions, contains) || begins("@") || begins("-B") ||
			opt == "linker" || opt == "-Clinker" || opt == "-Xclang"
		if why := namesCode(name, opt); why != "" {
			return why
		}
		if compilers[name] && isCompilers {
			return name + " " + shorten(w.Text) + " may run code that is not in the command"
		}
	}
	return ""
}

// namesCode describes a word that is known to be an option whose code the program runs, or returns "".
func namesCode(name, word string) string {
	lines := slices.Concat(classes["loads "+name], classes["loads "+loadsLike[unversionedName(name)]])
	if slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(word, s) }) {
		return name + " " + shorten(word) + " may run code that is not in the command"
	}
	return ""
}

// Sandbox lists the restrictions of commands that a machine has tested; zero means none.
type Sandbox struct {
	// Writes means that commands and their child processes can change files only in Writable.
	Writes   bool
	Writable []string // absolute folders
	// absolute files, and folders with everything in them, that commands cannot read
	Hidden []string
	// SetsAside are absolute folders in which the machine sets aside what commands create under a rule
	// that denies writing it.
	SetsAside []string
	// HidesOutside is that of the machine's report ([protocol.Enforcement]).
	HidesOutside bool
}

// RequiredChecks are the sandbox checks (node/sandbox) that a machine must pass. Without one of
// them, a command could reach any file through another program, a service or io_uring.
var RequiredChecks = []string{"fs.write.outside", "syscall.ptrace", "syscall.io_uring", "unix.sockets", "net.tcp", "net.mptcp"}

// scratch are folders for temporary files, of which some may be writable in every sandbox.
var scratch = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders"}

// sandboxOf returns the restrictions that a machine is known to enforce. If commands may use the
// network, they can reach services that act for them, so the result is then empty.
func sandboxOf(h *protocol.HostInfo) (s Sandbox) {
	if h == nil || h.Enforcement == nil || h.Enforcement.Mode == "full" || h.Enforcement.Network != "blocked" {
		return s
	}
	enforced := map[string]bool{}
	for _, c := range h.Enforcement.Checks {
		enforced[c.ID] = c.Enforced
	}
	if slices.ContainsFunc(RequiredChecks, func(id string) bool { return !enforced[id] }) {
		return s
	}
	s.Writes, s.Writable, s.SetsAside = true, slices.Clone(scratch), h.Enforcement.SetsAside
	s.HidesOutside = h.Enforcement.HidesOutside
	at := &places{aliases: usableAliases(h.Aliases)}
	opened := []string{h.Workspace}
	for _, f := range h.Folders {
		opened = append(opened, at.realPath(clean(f.Path)))
		if !f.ReadOnly && h.Enforcement.Mode != "read-only" {
			s.Writable = append(s.Writable, f.Path)
		}
	}
	if h.Enforcement.Mode != "read-only" {
		s.Writable = append(s.Writable, h.Workspace)
	}
	if !enforced["fs.read.secrets"] {
		return s
	}
	for _, place := range h.Enforcement.Hidden {
		if !slices.ContainsFunc(opened, func(dir string) bool { return dir == place || strings.HasPrefix(dir, place+"/") }) {
			s.Hidden = append(s.Hidden, place)
		}
	}
	return s
}

// Files returns a sentence that says which rules about files apply to the code that a call runs. It
// is empty when the command itself names the files that it opens, or when there are no such rules.
func (d Decision) Files() string {
	var parts []string
	if len(d.Unenforced) > 0 {
		parts = append(parts, "the code it runs may access "+joinFew(d.Unenforced)+" despite your rules")
	}
	if len(d.Enforced) > 0 {
		parts = append(parts, "the sandbox protects "+joinFew(d.Enforced))
	}
	return strings.Join(parts, "; ")
}

func joinFew(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		list = append(slices.Clone(list[:most]), "more")
	}
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " and " + list[n]
	}
	return list[0]
}
