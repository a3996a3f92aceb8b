package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/peer/shell"
)

// guard is a word that changes what a program does: a rule must contain it to cover the command.
type guard struct {
	at     int // index of the word, or one of the two constants below
	reason string
	opaque bool // the program runs code that cannot be checked
	// unknown means that the word is merely not known: a rule that contains it may be offered.
	unknown bool
	// goal means one of the program's goals: a rule that contains none of them covers all.
	goal bool
	// containable means that a machine that contains commands prevents what the word may do.
	containable bool
	// files are those that the program writes because of the word, if that is all that it does: a
	// rule that allows writing them covers it too.
	files []shell.Word
}

const (
	noRule    = -1 // no rule covers it
	exactOnly = -2 // only a rule that contains every word covers it
)

type guards struct {
	shell.Command
	name     string
	resolver *pathResolver
	list     []guard
}

func (g *guards) add(at int, opaque bool, why string) {
	g.list = append(g.list, guard{at: at, reason: why, opaque: opaque})
}

func (g *guards) addOptions(name string, from int) {
	guardOptions(name, g.Words, from, g.resolver, func(h guard) { g.list = append(g.list, h) })
}

// guardsOf lists the words of a command that its allow rule must contain.
func guardsOf(c shell.Command, p *pathResolver) []guard {
	g := guards{Command: c, resolver: p, name: baseName(c.Words[0].Text)}
	if !c.Words[0].Dynamic {
		g.addAll()
	}
	return g.list
}

func (g *guards) addAll() {
	w, name := g.Words, g.name
	if s, ok := guardedLike[name]; ok {
		name = s
	}
	switch {
	case shell.IsShell(name):
		g.addShell()
		return
	case name == "sqlite3" && g.addQuery():
		return
	case isVersionOf(name, interpreters):
		g.addInterpreter()
		g.addOptions(name, 1)
		if i := moduleAt(w); i > 0 && strings.HasPrefix(name, "py") {
			g.addOptions(w[i].Text, i+1)
		}
		return
	case isHarmlessBuiltin(name, w[1:]):
		return
	case shellBuiltins[name]:
		opaque := name == "eval" || name == "exec" || name == "enable" || name == "hash" || name == "autoload"
		// with such an option (autocd), the name of a folder alone changes to it
		if name == "setopt" || name == "shopt" {
			opaque = slices.ContainsFunc(w[1:], func(w shell.Word) bool { return w.Dynamic || strings.Contains(strings.ToLower(w.Text), "cd") })
		}
		g.add(noRule, opaque, name+" changes how the shell runs later commands")
		return
	}
	for i := 1; i < len(w) && isFlag(w[i].Text); i++ {
		if shell.IsLauncher(name) && optionTables()[name] == nil && !w[i].Dynamic {
			g.add(i, false, name+" "+shorten(w[i].Text)+" changes how the command is started")
		}
		if shell.IsLoader(name) {
			g.add(i, true, name+" "+shorten(w[i].Text)+" may load code that is not in the command")
		}
	}
	if (g.Piped || g.Stdin != nil) && inputRunners[g.name] && !g.Starts {
		isReading := name == "xargs" && startsTool(w)
		g.list = append(g.list, guard{at: noRule, opaque: true, containable: isReading, reason: g.name + " runs commands in its input"})
	}
	if shellStarters[name] && !g.Starts {
		g.add(noRule, true, name+" starts a shell that runs its input")
	}
	from := 1
	if name == "git" {
		from = shell.GitSubcommand(w)
	}
	g.addOptions(name, from)
	if special := specialGuards[name]; special != nil {
		special(g)
	}
	g.addSettings(name)
	for i := range w[1:] {
		if why := namesCode(g.name, w[i+1].Text); why != "" {
			g.add(i+1, true, why)
		}
	}
	if confinedPrograms[name] {
		g.addOutside()
	}
}

// isVersionOf matches python3.12 and the like.
func isVersionOf(name string, m map[string]bool) bool {
	return m[name] || m[strings.TrimRight(name, "0123456789.-")]
}

// moduleAt returns the index of the word with the module that python runs, or 0.
func moduleAt(w []shell.Word) int {
	for i := 1; i+1 < len(w) && isFlag(w[i].Text); i++ {
		if w[i].Text == "-m" {
			return i + 1
		}
		if takesValue("python", w[i].Text) {
			i++
		}
	}
	return 0
}

func (g *guards) addInterpreter() {
	w, name, hasInput := g.Words, g.name, g.Piped || g.Stdin != nil
	if len(w) == 2 && informs[w[1].Text] && len(w[1].Text) > 2 && !hasInput {
		return
	}
	if codeArguments[name] { // every argument may be a text that it runs
		for i := 1; i < len(w); i++ {
			g.add(i, true, name+" "+shorten(w[i].Text)+" may run any code")
		}
		if !slices.ContainsFunc(w[1:], func(w shell.Word) bool { return isFlag(w.Text) }) && len(w) < 3 {
			g.add(exactOnly, true, name+" runs its input")
		}
	}
	if hasInput && (codeArguments[name] || len(w) == 1 || len(w) == 2 && w[1].Text == "-" || isFlag(w[1].Text)) {
		g.add(noRule, true, name+" runs its input")
	}
	if len(w) == 1 {
		g.add(exactOnly, true, name+" runs its input")
	} else if len(w) > 2 || !informs[w[1].Text] {
		g.addScript()
	}
}

// informs are the words with which interpreters only print a text.
var informs = set("--version -V -v --help -h version")

// scriptFlags matches options of interpreters that change how a script of the workspace runs, or
// start a module as one.
var scriptFlags = regexp.MustCompile(`^(-[muWXBOsSIqvdl]|--(test|watch|no-warnings|enable-source-maps|trace-warnings|trace-deprecation))$`)

// addScript checks an interpreter's options up to the script or the text that it runs.
func (g *guards) addScript() {
	w, name := g.Words, g.name
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isLetters(t) && strings.ContainsAny(t, "ceErpn") || t == "-" || strings.HasPrefix(t, "--e") || strings.HasPrefix(t, "--p") || t == "eval"
		isOpaque := text || w[i].Dynamic
		g.list = append(g.list, guard{at: i, opaque: isOpaque, containable: !isOpaque && (!isFlag(t) || scriptFlags.MatchString(t)), reason: name + " " + shorten(t) + " runs code that is not in the command"})
		if !isFlag(t) {
			if shell.IsInput(t) {
				g.add(noRule, true, name+" runs its input")
			}
			return
		}
		if takesValue(name, t) && i+1 < len(w) { // the next word is not the script
			i++
			why := name + " " + shorten(t) + " " + shorten(w[i].Text) + " loads code that is not in the command"
			g.list = append(g.list, guard{at: i, opaque: w[i].Dynamic, containable: !w[i].Dynamic, reason: why})
			continue
		}
		switch t {
		case "-c", "-e", "-m", "-p", "-r", "--eval", "--print", "-E", "-pe", "-ne":
			if i+1 < len(w) {
				isOpaque := t != "-m" || inlineModules[w[i+1].Text] || w[i+1].Dynamic
				g.list = append(g.list, guard{at: i + 1, opaque: isOpaque, containable: !isOpaque, reason: name + " " + t + " may run any code"})
			}
		}
	}
}

// takesValue reports whether an interpreter's option uses the next word as its value.
func takesValue(name, option string) bool {
	plain := strings.TrimRight(name, "0123456789.-")
	return slices.ContainsFunc([]string{name, plain, optionsLike[name], optionsLike[plain]}, func(n string) bool {
		return slices.Contains(classes["valueOptions "+n], option)
	})
}

func isInteger(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }

func (g *guards) addShell() {
	w, name := g.Words, g.name
	if g.Piped || g.Stdin != nil && g.Stdin.Dynamic {
		g.add(noRule, true, name+" runs the output of another command")
	}
	switch {
	case len(w) == 1:
		if g.Stdin == nil {
			g.add(exactOnly, true, name+" runs its input")
		}
		return
	case len(w) == 2 && (w[1].Text == "--version" || w[1].Text == "--help"),
		len(w) == 3 && (w[1].Text == "-c" || w[1].Text == "-lc") && w[2].Plain(): // the script is checked separately
		return
	}
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isLetters(t) && strings.ContainsAny(t, "csi") || shell.IsInput(t)
		g.add(i, text || w[i].Dynamic, name+" "+shorten(t)+" runs code that is not in the command")
	}
}

// gitStarters matches the words of git after which it starts a program for each commit or submodule.
var gitStarters = regexp.MustCompile(`^(rebase (-x|--exec)|bisect run$|submodule foreach$)`)

// gitProgramOptions matches git's options that run a program or write a file.
var gitProgramOptions = regexp.MustCompile(`^(rebase (-[a-z]*x|-[a-z]*i$|--int)|archive --rem|bisect run$|submodule foreach$|clone (-c|-u|--conf)|` +
	`difftool -x|fetch -u$|blame --cont|branch --ed|grep -[^efABCm-]*O)`)

func guardGit(g *guards) {
	w, p := g.Words, g.resolver
	sub := shell.GitSubcommand(w)
	for i := 1; i < sub; i++ {
		switch {
		case w[i].Text == "--no-pager", len(w) == 2 && (w[i].Text == "--version" || w[i].Text == "--help"):
		case w[i].Text == "-C" && i+1 < len(w) && p.isRoot(w[i+1]):
			i++
		case w[i].Text == "-C" && i+1 < len(w) && p.isInside(w[i+1]):
			why := otherRepository(w[i+1].Text)
			g.list = append(g.list, guard{at: i, reason: why, containable: true}, guard{at: i + 1, reason: why, containable: true})
			i++
		default:
			g.add(i, true, "git "+shorten(w[i].Text)+" may change which programs git runs, or where")
		}
	}
	if sub >= len(w) {
		return
	}
	name := w[sub].Text
	if !gitCommands[name] {
		g.list = append(g.list, guard{at: sub, opaque: true, containable: !gitServices[name], reason: "git " + shorten(name) + " may be an alias for any command"})
	}
	for i := sub + 1; i < len(w); i++ {
		switch t := w[i].Text; {
		case strings.HasPrefix(t, "ext::") || strings.HasPrefix(t, "fd::"):
			g.add(noRule, true, "git "+shorten(t)+" runs a program to connect")
		case g.Starts && gitStarters.MatchString(name+" "+t): // the program that it starts is decided about separately
		case gitProgramOptions.MatchString(name + " " + t):
			g.add(i, true, "git "+name+" "+shorten(t)+" may run a program or write a file")
		}
	}
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
		if ma.call.Contained && isIn(d, ma.resolver.places.root) {
			continue // the machine protects the settings of the repositories in its workspace
		}
		if !ma.resolver.places.sameAsRoot(d) && (r == nil || r.cwd == "" || !ma.resolver.is(d, r.cwd, false, false)) {
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
