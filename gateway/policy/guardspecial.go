package policy

import (
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// printLines matches the sed scripts that only print lines by number.
var printLines = regexp.MustCompile(`^((\d+|\$)(,(\d+|\$))?p)(;(\d+|\$)(,(\d+|\$))?p)*$`)

// plainAwk reports whether a word of awk certainly is not a program that opens files or runs
// commands. An option that names another program is not plain.
func plainAwk(w shell.Word) bool {
	if isFlag(w.Text) {
		return !w.Dynamic && (strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-v"))
	}
	return !w.Dynamic && !strings.ContainsAny(w.Text, "|>@`&") && !strings.Contains(w.Text, "system") && !strings.Contains(w.Text, "getline")
}

var setOptions = regexp.MustCompile(`^[-+][eux]*o?$`)

// specialGuards are guards that need more than a list of options.
var specialGuards = map[string]func(c shell.Command, p *pathResolver, add func(int, bool, string)){
	"sed": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		quiet, script := false, false
		for i, w := range c.Words[1:] {
			i++
			switch t := w.Text; {
			case t == "-n" || t == "--quiet" || t == "--silent" || t == "-nE" || t == "-nr":
				quiet = true
			case t == "-E" || t == "-r" || t == "-s" || t == "-u" || t == "-z" || t == "--":
			case isFlag(t):
				add(i, strings.ContainsAny(t, "fe"), "sed "+shorten(t)+" may change files or run commands")
				script = script || strings.HasPrefix(t, "-e") || strings.HasPrefix(t, "--expression")
			case !script:
				script = true
				if !quiet || !printLines.MatchString(t) {
					add(i, strings.ContainsAny(t, "e"), "A sed script may write files and run commands")
				}
			}
		}
	},
	"awk": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		for i := 1; i < len(c.Words); i++ {
			add(i, !plainAwk(c.Words[i]), "An awk program may write files and run commands")
			if !isFlag(c.Words[i].Text) && !(i > 1 && isFlag(c.Words[i-1].Text) && len(c.Words[i-1].Text) == 2) {
				return
			}
		}
	},
	"git":    guardGit,
	"rename": guardRename, "prename": guardRename, "perl-rename": guardRename, "file-rename": guardRename,
	"curl": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			t := w.Text
			if v, ok := cookieArgument(c.Words, i+1); ok && !strings.Contains(v, "=") {
				add(i+1, false, "curl "+shorten(v)+" sends the cookies in a file")
			}
			if strings.Contains(t, "output{") || strings.HasPrefix(t, "--expand-") || strings.HasPrefix(t, "@") || strings.HasPrefix(t, "-d@") ||
				strings.Contains(t, "=@") || strings.Contains(t, "=<") || strings.HasPrefix(strings.ToLower(t), "file:") {
				add(i+1, false, "curl "+shorten(t)+" reads or writes a file")
			}
			if opt, v, cut := strings.Cut(t, "="); isPrefixOf("--data-urlencode", opt, 8) || isPrefixOf("--url-query", opt, 7) {
				if !cut && i+2 < len(c.Words) {
					v = c.Words[i+2].Text
				}
				if strings.Contains(v, "@") {
					add(i+1, false, "curl "+shorten(v)+" reads a file")
				}
			}
		}
	},
	"npm":  guardSettings,
	"pnpm": guardSettings,
	"yarn": guardSettings,
	"pip":  guardSettings,
	"gh":   guardSettings,
	"uniq": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		n := 0
		for i, w := range c.Words[1:] {
			if isFlag(w.Text) && len(w.Text) == 2 && strings.ContainsAny(w.Text, "fsw") {
				n-- // its value follows
			} else if !isFlag(w.Text) {
				if n++; n > 1 {
					add(i+1, false, "uniq writes its second file")
				}
			}
		}
	},
	"test": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			i++
			switch w.Text {
			case "-v", "-R":
				add(i, true, "test "+w.Text+" may run code in a variable name")
			case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
				for _, k := range []int{i - 1, i + 1} {
					if k < len(c.Words) && k > 0 && !isInteger(c.Words[k].Text) {
						add(k, true, "test "+w.Text+" evaluates "+shorten(c.Words[k].Text))
					}
				}
			}
		}
	},
	"printf": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		if len(c.Words) > 1 && strings.HasPrefix(c.Words[1].Text, "-v") {
			add(noRule, true, "printf -v may run code in a variable name")
		}
	},
	"set": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if !setOptions.MatchString(w.Text) && w.Text != "pipefail" {
				add(i+1, true, "set "+shorten(w.Text)+" changes how the shell runs later commands")
			}
		}
	},
	"xargs": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		add(noRule, true, "xargs adds arguments that are known only when it runs")
	},
	"parallel": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		add(noRule, true, "parallel adds arguments that are known only when it runs")
	},
	"ssh": func(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
		for i := 1; i < len(c.Words); i++ {
			add(i, true, "Runs on another machine")
		}
		if c.Starts {
			return
		}
		if c.Piped || c.Stdin != nil {
			add(noRule, true, "The other machine runs its input")
		}
		add(exactOnly, true, "The other machine runs its input")
	},
}

// cookieArgument returns the cookie argument in word i of curl: text, or the name of a file if it
// has no =.
func cookieArgument(w []shell.Word, i int) (string, bool) {
	opt, v, cut := strings.Cut(w[i].Text, "=")
	switch {
	case isPrefixOf("--cookie", opt, 8) && opt != "--cookie-jar" && cut:
		return v, true
	case opt == "--cookie", isFlag(opt) && opt[1] != '-' && opt[len(opt)-1] == 'b' && strings.IndexByte(leadingLetters(opt[1:], curlValues), 'b') < 0 && !strings.ContainsAny(opt[1:len(opt)-1], curlValues):
		if i+1 < len(w) {
			return w[i+1].Text, true
		}
	case strings.HasPrefix(w[i].Text, "-b"):
		return w[i].Text[2:], true
	}
	return "", false
}

// curlValues are the short options of curl with a value.
const curlValues = "AbCdEeFHmPQrTtUuwXxYyzoKcD"

// guardSettings finds package managers' commands that set which programs they run later.
func guardSettings(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
	name := baseName(c.Words[0].Text)
	v := vocabularies[name]
	var at []int // the operands
	for i, w := range c.Words {
		if i > 0 && !isFlag(w.Text) && !w.Dynamic {
			at = append(at, i)
		}
	}
	for k, i := range at {
		what, then := v.fullName(c.Words[i].Text), ""
		if k+1 < len(at) {
			then = c.Words[at[k+1]].Text
		}
		switch {
		case name == "gh" && (what == "alias" || what == "extension" || what == "config") && then != "list" && then != "get":
		case name == "npm" && what == "set" && k == 0, name == "npm" && what == "pkg" && then != "get":
		case what == "config" && (then == "set" || then == "edit" || then == "delete" || then == "unset" || then == "fix" || then == "rm"):
		default:
			continue
		}
		add(i, true, name+" "+what+" "+then+" may change which programs "+name+" runs later")
		return
	}
}

// confinedPrograms are programs that may be offered with any arguments: builders, test runners,
// linters and formatters. An open rule for them covers only paths in the workspace: with others
// they would run other code, or write to or clear other folders.
var confinedPrograms = func() map[string]bool {
	m := set("gofumpt bun deno tox rspec rubocop phpunit flake8")
	for _, u := range openOffers {
		m[u[0]] = true
	}
	return m
}()

func guardWorkspace(c shell.Command, p *pathResolver, add func(int, bool, string)) {
	for i, w := range c.Words[1:] {
		if w.Dynamic || strings.Contains(w.Text, "://") {
			continue
		}
		for _, s := range possiblePaths(w) {
			if leavesFolder(s.Text) && !p.isInside(s) {
				add(i+1, false, c.Words[0].Text+" "+shorten(w.Text)+" is outside the workspace")
				break
			}
		}
	}
}

// possiblePaths returns the parts of a word that may be paths: the word itself, the text after an =
// or a colon, and the value of a short option in the same word.
func possiblePaths(w shell.Word) []shell.Word {
	list := []shell.Word{w}
	for i := 0; i < len(w.Text); i++ {
		if c := w.Text[i]; c == '=' || c == ':' || c == ',' || c == '@' {
			list = append(list, part(w, w.Text[i+1:]))
		}
	}
	if g := attachedValue(w.Text); g != "" {
		list = append(list, part(w, g))
	}
	return list
}

// leavesFolder reports whether a text may be a path that leaves its folder.
func leavesFolder(s string) bool {
	switch s {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return false
	}
	return isAbs(s) || strings.HasPrefix(s, "~") || s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") || strings.HasSuffix(s, "/..")
}
