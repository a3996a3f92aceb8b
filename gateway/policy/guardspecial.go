package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// specialGuards are guards that need more than a list of options.
var specialGuards = map[string]func(*guards){
	"sed": guardSed, "awk": guardAwk, "git": guardGit, "curl": guardCurl, "test": guardTest, "ssh": guardSSH,
	"rename": guardRename,
	"xargs": func(g *guards) {
		g.list = append(g.list, guard{at: noRule, opaque: true, containable: startsTool(g.Words), reason: "xargs adds arguments that are known only when it runs"})
	},
	"parallel": func(g *guards) { g.add(noRule, true, "parallel adds arguments that are known only when it runs") },
	"printf": func(g *guards) {
		if len(g.Words) > 1 && strings.HasPrefix(g.Words[1].Text, "-v") {
			g.add(noRule, true, "printf -v may run code in a variable name")
		}
	},
	"set": func(g *guards) {
		for i, w := range g.Words[1:] {
			if !setOptions.MatchString(w.Text) {
				g.add(i+1, true, "set "+shorten(w.Text)+" changes how the shell runs later commands")
			}
		}
	},
}

// startsTool reports whether xargs starts a program that may get any arguments where commands are
// contained.
func startsTool(words []shell.Word) bool {
	list := operands(words[1:], "adEILnPs")
	return len(list) > 0 && list[0].Plain() && takesAnyWord(list[0].Text)
}

// takesAnyWord reports whether any words are harmless for a program where commands are contained:
// it reads and changes files. Programs that reach other machines, services or processes, that
// remove files, or that run their arguments or input, are not among them.
func takesAnyWord(name string) bool {
	name = baseName(name)
	return name != "" && !remotePrograms[name] && !isVersionOf(name, interpreters) && !shell.IsShell(name) && !shell.IsLauncher(name) &&
		!versionControl[name] && !removers[name] && !movers[name] && !shellBuiltins[name] && !inputRunners[name] && !userSwitchers[name] &&
		!unstoppable[name] && !slices.Contains([]string{"find", "gfind", "fd", "fdfind", "kill", "pkill", "killall", "fairlead", "fairlead-node", "make", "gmake"}, name)
}

var setOptions = regexp.MustCompile(`^([-+][eux]*o?|pipefail)$`)

// plainSed matches the scripts of sed that only print, remove and replace lines: they open no file and
// run no command. Delimiters in brackets are read differently by GNU's and BSD's sed.
var plainSed = func() *regexp.Regexp {
	expression := func(end string) string {
		return `(?:[^` + end + `\\\[\n]|\\[^\n]|\[\^?[^` + end + `\]\\\[\n]+\])*`
	}
	address := `(?:\d+|\$|/` + expression("/") + `/I?)`
	command := `[pdlqQ=nNgGhHxPD]`
	for _, end := range []string{"/", "|", "#", ",", ":", "@", "_", "!", "%", "~", "+"} {
		quoted := regexp.QuoteMeta(end)
		command += `|[sy]` + quoted + expression(end) + quoted + `(?:[^` + end + `\\\n]|\\[^\n])*` + quoted + `[gpIiM\d]*`
	}
	one := `(?:` + address + `(?:,\+?` + address + `)?)?!? *(?:` + command + `)`
	return regexp.MustCompile(`^ *` + one + `(?: *[;\n] *` + one + `)* *;?$`)
}()

// sedRuns matches the scripts of sed that may run commands, by e or by s with that flag, or that may
// name a file outside the workspace.
var sedRuns = regexp.MustCompile(`(^|[^a-zA-Z])e($|[^a-zA-Z])|[^\w\s]\w*e\w*\s*($|[;}\n])|[wWrR]\s+(/|~|\.\.)`)

// inPlace matches sed's option -i with a suffix for the previous file.
var inPlace = regexp.MustCompile(`^-i[\w.~-]*$`)

// sedSwitches are sed's options without a value that change nothing but its output.
var sedSwitches = regexp.MustCompile(`^(-[nErsuz]+|--(quiet|silent|regexp-extended|separate|null-data|unbuffered|posix|debug)|--)$`)

func guardSed(g *guards) {
	isScript, hasScript := false, false // of the next word; of an option before
	var files []shell.Word
	for i := 1; i < len(g.Words); i++ {
		t := g.Words[i].Text
		switch {
		case isScript || !isFlag(t) && !hasScript:
			if g.Words[i].Dynamic {
				g.add(i, true, "A sed script may write files and run commands")
			} else if !plainSed.MatchString(t) {
				isOpaque := strings.Contains(t, "e") && !isScript || sedRuns.MatchString(t)
				g.list = append(g.list, guard{at: i, opaque: isOpaque, containable: !sedRuns.MatchString(t), reason: "A sed script may write files and run commands"})
			}
			isScript, hasScript = false, true
		case !isFlag(t):
			files = append(files, g.Words[i])
		case sedSwitches.MatchString(t):
		case t == "-e" || t == "-ne" || t == "--expression":
			isScript, hasScript = true, true
		default:
			g.list = append(g.list, guard{
				at: i, opaque: strings.ContainsAny(t, "fe"), containable: inPlace.MatchString(t),
				reason: "sed " + shorten(t) + " may change files or run commands",
			})
			hasScript = hasScript || strings.HasPrefix(t, "-e") || strings.HasPrefix(t, "--expression")
		}
	}
	for i, h := range g.list {
		if h.at > 0 && inPlace.MatchString(g.Words[h.at].Text) {
			g.list[i].files = append(files, backups(append([]shell.Word{g.Words[h.at]}, files...))...)
		}
	}
}

// awkCode matches texts of awk that may run commands, load code, or open a file that is not an
// operand.
var awkCode = regexp.MustCompile("[@`]|system|getline|ARG|TAB")

// isPlainAwk reports whether a program of awk opens no file and runs no command. Both need a print
// before a > or |.
func isPlainAwk(text string) bool {
	_, rest, _ := strings.Cut(text, "print")
	return !awkCode.MatchString(text) && !strings.ContainsAny(rest, ">|")
}

// awkRuns matches those that may run commands or load code.
var awkRuns = regexp.MustCompile("(^|[^|])\\|([^|]|$)|[@`]|system|getline")

func guardAwk(g *guards) {
	for i := 1; i < len(g.Words); i++ {
		w := g.Words[i]
		t := w.Text
		isSetting := strings.HasPrefix(t, "-F") || strings.HasPrefix(t, "-v")
		if w.Dynamic || !isSetting && (isFlag(t) || !isPlainAwk(t)) {
			isRunning := w.Dynamic || isFlag(t) || awkRuns.MatchString(t)
			g.list = append(g.list, guard{at: i, opaque: true, containable: !isRunning, reason: "An awk program may write files and run commands"})
		}
		if !isFlag(t) && !(i > 1 && isFlag(g.Words[i-1].Text) && len(g.Words[i-1].Text) == 2) {
			return
		}
	}
}

// curlValues are the letters of curl's options with a value.
const curlValues = "AbCcDdEeFHhKmoPQrTtUuwXxYyz"

func guardCurl(g *guards) {
	for i := 1; i < len(g.Words); i++ {
		t := g.Words[i].Text
		for _, v := range values(g.Words[i:min(i+2, len(g.Words))], "-b,--cookie") {
			if !strings.Contains(v.Text, "=") {
				g.add(i, false, "curl "+shorten(v.Text)+" sends the cookies in a file")
			}
		}
		switch {
		case strings.HasPrefix(t, "@") || strings.HasPrefix(t, "-d@") || strings.Contains(t, "=@") || strings.Contains(t, "=<"):
			g.add(i, false, "curl "+shorten(t)+" sends a file to another machine")
		case strings.Contains(t, "#") && len(values(g.Words[i:min(i+2, len(g.Words))], "-o,--output")) > 0,
			i > 1 && strings.Contains(t, "#") && len(values(g.Words[i-1:i+1], "-o,--output")) > 0:
			g.add(i, false, "curl "+shorten(t)+" writes files that the address names")
		case strings.Contains(t, "output{") || strings.HasPrefix(t, "--expand-") || strings.HasPrefix(strings.ToLower(t), "file:"):
			g.add(i, false, "curl "+shorten(t)+" reads or writes a file")
		}
		if letters := leadingLetters(strings.TrimPrefix(t, "-"), curlValues); t == "--remote-name" || isLetters(t) && strings.Contains(letters, "O") {
			g.list = append(g.list, guard{at: i, containable: true, files: downloads(g.Words[1:]), reason: "curl " + shorten(t) + " writes a file"})
		}
		opt, v := optionAt(g.Words, i)
		if (isPrefixOf("--data-urlencode", opt, 8) || isPrefixOf("--url-query", opt, 7)) && strings.Contains(v.Text, "@") {
			g.add(i, false, "curl "+shorten(v.Text)+" reads a file")
		}
	}
}

func guardTest(g *guards) {
	for i := 1; i < len(g.Words); i++ {
		switch t := g.Words[i].Text; t {
		case "-v", "-R":
			g.add(i, true, "test "+t+" may run code in a variable name")
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			for _, k := range []int{i - 1, i + 1} {
				if k < len(g.Words) && k > 0 && !isInteger(g.Words[k].Text) {
					g.add(k, true, "test "+t+" evaluates "+shorten(g.Words[k].Text))
				}
			}
		}
	}
}

func guardSSH(g *guards) {
	for i := 1; i < len(g.Words); i++ {
		g.add(i, true, "Runs on another machine")
	}
	if g.Starts {
		return
	}
	if g.Piped || g.Stdin != nil {
		g.add(noRule, true, "The other machine runs its input")
	}
	g.add(exactOnly, true, "The other machine runs its input")
}

// simpleRename matches the expressions of perl's rename that rename a file within its folder.
var simpleRename = regexp.MustCompile(`^((s|y|tr)/[^/\\$@{(]*/[^/\\$@{(]*/[gi]*|[A-Za-z0-9_. -]*)$`)

func guardRename(g *guards) {
	n := 0
	for i := 1; i < len(g.Words) && n < 2; i++ {
		w := g.Words[i]
		if isFlag(w.Text) && !w.Dynamic {
			if strings.HasPrefix(w.Text, "-e") || strings.HasPrefix(w.Text, "--exp") || strings.HasPrefix(w.Text, "-f") || strings.HasPrefix(w.Text, "--file") {
				g.add(i, true, "rename "+shorten(w.Text)+" may run any code")
			}
			continue
		}
		n++
		// The second word is a name for util-linux's program, and a file for perl's.
		if n == 1 && !simpleRename.MatchString(w.Text) || n == 2 && strings.Contains(w.Text, "/") && !strings.Contains(g.Words[i-1].Text, "/") {
			g.add(i, true, "rename "+shorten(w.Text)+" may run code or move files elsewhere")
		}
	}
}

// addSettings finds subcommands that set which programs a program runs later.
func (g *guards) addSettings(name string) {
	settings := classes["settings "+name]
	var at []int // the operands
	for i, w := range g.Words {
		if i > 0 && !isFlag(w.Text) && !w.Dynamic {
			at = append(at, i)
		}
	}
	for k, i := range at {
		what, then := vocabularies[name].fullName(g.Words[i].Text), ""
		if k+1 < len(at) {
			then = g.Words[at[k+1]].Text
		}
		changes := slices.Contains(settings, what+"+"+then) || slices.Contains(settings, what)
		if changes && then != "list" && then != "get" {
			g.add(i, true, g.name+" "+what+" "+then+" may change which programs "+g.name+" runs later")
			return
		}
	}
}

// addOutside adds the words that may be paths outside the workspace.
func (g *guards) addOutside() {
	for i, w := range g.Words[1:] {
		if w.Dynamic || strings.Contains(w.Text, "://") {
			continue
		}
		for _, s := range possiblePaths(w) {
			if leavesFolder(s.Text) && !g.resolver.isInside(s) {
				why := g.Words[0].Text + " " + shorten(w.Text) + " is outside the workspace"
				g.list = append(g.list, guard{at: i + 1, containable: true, reason: why})
				break
			}
		}
	}
}

// possiblePaths returns the parts of a word that may be paths: the word itself, the text after an =
// or a colon, and the value of a short option in the same word.
func possiblePaths(w shell.Word) []shell.Word {
	list := []shell.Word{w}
	for i, c := range w.Text {
		if strings.ContainsRune("=:,@", c) {
			list = append(list, part(w, w.Text[i+1:]))
		}
	}
	if v := attachedValue(w.Text); v != "" {
		list = append(list, part(w, v))
	}
	return list
}

var harmlessDevices = set("/dev/null /dev/stdout /dev/stderr")

// leavesFolder reports whether a text may be a path that leaves its folder.
func leavesFolder(s string) bool {
	return !harmlessDevices[s] && (isAbs(s) || strings.HasPrefix(s, "~") || strings.Contains("/"+s+"/", "/../"))
}
