package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// isEnforced reports whether the machine's sandbox prevents commands from accessing the files of r,
// whatever code they run.
func (fr *fileRules) isEnforced(r *rule) bool {
	s := fr.call.Sandbox
	for _, tool := range anyAccess {
		if !fr.applies(r, tool) {
			continue
		}
		if mayWrite(tool) {
			if !s.Writes || slices.ContainsFunc(s.Writable, func(dir string) bool { return fr.mayConcern(r, dir) }) {
				return false
			}
		} else if !fr.isHidden(r) {
			return false
		}
	}
	return true
}

// mayConcern reports whether a rule may be about dir or something in it.
func (fr *fileRules) mayConcern(r *rule, dir string) bool {
	dir = clean(dir)
	return fr.resolver.match(r.path, dir, true) || fr.resolver.within(r.path, dir, false) != none ||
		r.path.home && fr.resolver.home == ""
}

// isHidden reports whether all files of a rule are in one place that commands cannot read.
func (fr *fileRules) isHidden(r *rule) bool {
	start := fr.resolver.root
	switch {
	case r.path.home:
		start = fr.resolver.home
	case r.path.abs || r.path.outside:
		start = "/"
	}
	if start == "" {
		return false
	}
	for _, p := range r.path.low { // up to the first wildcard
		if strings.ContainsAny(p, `*?[\`) {
			break
		}
		start = path.Join(start, p)
	}
	start = fold(fr.resolver.realPath(start))
	return slices.ContainsFunc(fr.call.Sandbox.Hidden, func(place string) bool {
		_, in := relativeTo(start, fold(fr.resolver.realPath(clean(place))))
		return in
	})
}

// unenforced returns a rule about files that nothing on the machine enforces against the code that
// c runs. why is "" if there is none.
func (fr *fileRules) unenforced(c shell.Command) (r *rule, why string) {
	for _, r := range fr.fileRestrictions {
		if !slices.ContainsFunc(anyAccess, func(t string) bool { return fr.applies(r, t) }) || fr.isEnforced(r) {
			continue
		}
		what := runsCode(c)
		if what == "" {
			return nil, ""
		}
		return r, what + ", which may access " + shorten(r.Path) + ", and " + r.label() + " restricts that"
	}
	return nil, ""
}

// recordCode records which rules about files are enforced for the code that a command runs, and
// which are not.
func (ev *evaluation) recordCode(c shell.Command) {
	if len(ev.fileRestrictions) == 0 || c.Guess || c.Words[0].Dynamic || runsCode(c) == "" {
		return
	}
	for _, r := range ev.fileRestrictions {
		if !slices.ContainsFunc(anyAccess, func(t string) bool { return ev.applies(r, t) }) {
			continue
		}
		list := &ev.unenforced
		if ev.fileRules.isEnforced(r) {
			list = &ev.enforced
		}
		if !slices.Contains(*list, r.Path) {
			*list = append(*list, r.Path)
		}
	}
}

// runsCode describes how a command runs code that is not in it, so that its words do not name the
// files that it opens; "" if it runs none. A command that it starts by its words is checked
// separately.
func runsCode(c shell.Command) string {
	name := baseName(c.Words[0].Text)
	words := c.Words[1:]
	switch {
	case strings.ContainsAny(c.Words[0].Text, `/\`) && !system(c.Words[0].Text):
		return shorten(c.Words[0].Text) + " runs code that is not in the command"
	case len(words) == 1 && (words[0].Text == "--version" || words[0].Text == "--help" || words[0].Text == "-h" || words[0].Text == "-V" ||
		words[0].Text == "-v" && !strings.HasPrefix(name, "python") && isVersionOf(name, interpreters)):
		return ""
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
	name = unversionedProgram(name)
	if as, ok := optionsLike[name]; ok {
		name = as
	}
	if k, ok := programSubcommands[name]; ok {
		return k.runs(name, c)
	}
	if name == "docker" || guardedLike[name] == "docker" || name == "docker-compose" || name == "podman-compose" {
		return startsContainer(name, words)
	}
	switch name {
	case "ssh", "scp", "sftp", "mosh":
		for _, w := range words {
			if strings.HasPrefix(w.Text, "-F") || name != "ssh" && strings.HasPrefix(w.Text, "-D") {
				return name + " " + shorten(w.Text) + " may run a program on this machine"
			}
		}
	case "curl":
		if hasBeginning(words, "--engine") {
			return "curl --engine loads code that is not in the command"
		}
	}
	if compilers[name] {
		return loadsCode(name, words)
	}
	if selfContained[name] || readers[name] || viewers[name] || noFileArguments[name] || shellBuiltins[name] || movers[name] || copiers[name] || downloaders[name] {
		return ""
	}
	return shorten(name) + " is an unknown program"
}

// startsContainer describes how a command starts an existing container's own program, which may
// have been given any folder. The folders of a new container are in the docker run command.
func startsContainer(name string, words []shell.Word) string {
	rest := operands(words, "HlcfpDn")
	if name == "docker-compose" || name == "podman-compose" {
		rest = append([]shell.Word{{Text: "compose"}}, rest...)
	}
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
		if k.own == nil {
			return name + " runs code that is not in the command"
		}
		return "" // it prints its usage
	}
	rest := c.Words[2:]
	quiet := hasLong(rest, "--ignore-scripts") && !hasBeginning(rest, "--ignore-scripts=") && !hasBeginning(rest, "--no-ig")
	switch sub := vocabularies[name].fullName(c.Words[1].Text); {
	case c.Words[1].Dynamic:
	case c.Starts && (sub == "exec" || sub == "x"), k.plain[sub] && quiet:
		return ""
	case k.own[sub] && !(strings.HasSuffix(name, "npm") && slices.ContainsFunc(rest, func(w shell.Word) bool { return w.Dynamic || w.Text == "fix" })):
		return ""
	}
	return name + " " + shorten(c.Words[1].Text) + " runs code that is not in the command"
}

// loadsCode returns the option with which a program runs code that is named by the option.
func loadsCode(name string, words []shell.Word) string {
	for _, w := range words {
		opt, _, _ := strings.Cut(w.Text, "=")
		told := slices.ContainsFunc(loadingOptions, func(s string) bool { return strings.Contains(opt, s) })
		if told && isFlag(opt) || strings.HasPrefix(opt, "@") || opt == "linker" || opt == "-Clinker" || strings.HasPrefix(opt, "-B") || name == "pandoc" && strings.HasPrefix(opt, "-F") || opt == "-Xclang" {
			return name + " " + shorten(w.Text) + " may run code that is not in the command"
		}
	}
	return ""
}
