package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// keeps reports whether the machine's sandbox prevents commands from accessing the files of r,
// whatever code they run.
func (j *judging) keeps(r *rule) bool {
	s := j.call.Sandbox
	for _, tool := range anyAccess {
		if !j.applies(r, tool) {
			continue
		}
		if writes(tool) {
			if !s.Writes || slices.ContainsFunc(s.Writable, func(dir string) bool { return j.about(r, dir) }) {
				return false
			}
		} else if !j.hides(r) {
			return false
		}
	}
	return true
}

// about reports whether a rule may be about dir or something in it.
func (j *judging) about(r *rule, dir string) bool {
	dir = clean(dir)
	return j.place.match(r.path, dir, true) || j.place.within(r.path, dir, false) != none ||
		r.path.home && j.place.home == ""
}

// hides reports whether all files of a rule are in one place that commands cannot read.
func (j *judging) hides(r *rule) bool {
	start := j.place.root
	switch {
	case r.path.home:
		start = j.place.home
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
	start = fold(j.place.real(start))
	return slices.ContainsFunc(j.call.Sandbox.Hidden, func(place string) bool {
		_, in := below(start, fold(j.place.real(clean(place))))
		return in
	})
}

// unheld returns a rule about files that nothing on the machine enforces against the code that c
// runs. why is "" if there is none.
func (j *judging) unheld(c shell.Command) (r *rule, why string) {
	what := ""
	for _, r := range j.paths {
		if !slices.ContainsFunc(anyAccess, func(t string) bool { return j.applies(r, t) }) || j.keeps(r) {
			continue
		}
		if what = runsCode(c); what == "" {
			return nil, ""
		}
		return r, what + ", which may access " + short(r.Path) + ", and " + r.called() + " restricts that"
	}
	return nil, ""
}

// note records which rules about files are enforced for the code that a command runs, and which are
// not.
func (j *judging) note(c shell.Command) {
	if len(j.paths) == 0 || c.Guess || c.Words[0].Dynamic || runsCode(c) == "" {
		return
	}
	for _, r := range j.paths {
		if !slices.ContainsFunc(anyAccess, func(t string) bool { return j.applies(r, t) }) {
			continue
		}
		list := &j.loose
		if j.keeps(r) {
			list = &j.held
		}
		if !slices.Contains(*list, r.Path) {
			*list = append(*list, r.Path)
		}
	}
}

// runsCode describes how a command runs code that is not in it, so that its words do not name the
// files that it opens; "" if it runs none. A command that it starts by its words is judged
// separately.
func runsCode(c shell.Command) string {
	name := base(c.Words[0].Text)
	words := c.Words[1:]
	switch {
	case strings.ContainsAny(c.Words[0].Text, `/\`) && !system(c.Words[0].Text):
		return short(c.Words[0].Text) + " runs code that is not in the command"
	case len(words) == 1 && (words[0].Text == "--version" || words[0].Text == "--help" || words[0].Text == "-h" || words[0].Text == "-V" ||
		words[0].Text == "-v" && !strings.HasPrefix(name, "python") && versioned(name, interpreters)):
		return ""
	case shell.Shells(name):
		if c.Starts || len(words) == 0 {
			return "" // a shell that reads its script needs an approval anyway
		}
		return name + " runs a script that is not in the command"
	case c.Starts && shell.Launches(name) && name != "direnv":
		return ""
	case versioned(name, interpreters):
		if len(words) == 0 || codeArguments[name] {
			return "" // likewise
		}
		return name + " runs code that is not in the command"
	}
	name = plainName(name)
	if as, ok := optionsLike[name]; ok {
		name = as
	}
	if k, ok := programSubcommands[name]; ok {
		return k.runs(name, c)
	}
	if name == "docker" || guardedLike[name] == "docker" || name == "docker-compose" || name == "podman-compose" {
		return startsBox(name, words)
	}
	switch name {
	case "ssh", "scp", "sftp", "mosh":
		for _, w := range words {
			if strings.HasPrefix(w.Text, "-F") || name != "ssh" && strings.HasPrefix(w.Text, "-D") {
				return name + " " + short(w.Text) + " may run a program on this machine"
			}
		}
	case "curl":
		if hasBeginning(words, "--engine") {
			return "curl --engine loads code that is not in the command"
		}
	}
	if compilers[name] {
		return loads(name, words)
	}
	if selfContained[name] || readers[name] || viewers[name] || noFileArguments[name] || shellBuiltins[name] || movers[name] || copiers[name] || downloaders[name] {
		return ""
	}
	return short(name) + " is an unknown program"
}

// startsBox describes how a command starts an existing container's own program, which may have been
// given any folder. The folders of a new container are in the docker run command.
func startsBox(name string, words []shell.Word) string {
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
	switch sub := vocabularies[name].full(c.Words[1].Text); {
	case c.Words[1].Dynamic:
	case c.Starts && (sub == "exec" || sub == "x"), k.plain[sub] && quiet:
		return ""
	case k.own[sub] && !(strings.HasSuffix(name, "npm") && slices.ContainsFunc(rest, func(w shell.Word) bool { return w.Dynamic || w.Text == "fix" })):
		return ""
	}
	return name + " " + short(c.Words[1].Text) + " runs code that is not in the command"
}

// loads returns the option with which a program runs code that is named by the option.
func loads(name string, words []shell.Word) string {
	for _, w := range words {
		opt, _, _ := strings.Cut(w.Text, "=")
		told := slices.ContainsFunc(loadingOptions, func(s string) bool { return strings.Contains(opt, s) })
		if told && isFlag(opt) || strings.HasPrefix(opt, "@") || opt == "linker" || opt == "-Clinker" || strings.HasPrefix(opt, "-B") || name == "pandoc" && strings.HasPrefix(opt, "-F") || opt == "-Xclang" {
			return name + " " + short(w.Text) + " may run code that is not in the command"
		}
	}
	return ""
}
