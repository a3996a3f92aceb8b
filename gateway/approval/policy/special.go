package policy

import (
	"regexp"
	"strings"

	"fairlead/gateway/approval/shell"
)

// printLines are the sed scripts that only print lines by number.
var printLines = regexp.MustCompile(`^((\d+|\$)(,(\d+|\$))?p)(;(\d+|\$)(,(\d+|\$))?p)*$`)

// plainAwk reports whether a word of awk surely is no program that opens files or runs commands: an option that names another program is none.
func plainAwk(w shell.Word) bool {
	if isFlag(w.Text) {
		return !w.Dynamic && (strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-v"))
	}
	return !w.Dynamic && !strings.ContainsAny(w.Text, "|>@`&") && !strings.Contains(w.Text, "system") && !strings.Contains(w.Text, "getline")
}

var setOptions = regexp.MustCompile(`^[-+][eux]*o?$`)

// special are guards that need more than a list of options.
var special = map[string]func(c shell.Command, p *place, add func(int, bool, string)){
	"sed": func(c shell.Command, _ *place, add func(int, bool, string)) {
		quiet, script := false, false
		for i, w := range c.Words[1:] {
			i++
			switch t := w.Text; {
			case t == "-n" || t == "--quiet" || t == "--silent" || t == "-nE" || t == "-nr":
				quiet = true
			case t == "-E" || t == "-r" || t == "-s" || t == "-u" || t == "-z" || t == "--":
			case isFlag(t):
				add(i, strings.ContainsAny(t, "fe"), "sed "+short(t)+" may change files or run commands")
				script = script || strings.HasPrefix(t, "-e") || strings.HasPrefix(t, "--expression")
			case !script:
				script = true
				if !quiet || !printLines.MatchString(t) {
					add(i, strings.ContainsAny(t, "e"), "a sed script may write files and run commands")
				}
			}
		}
	},
	"awk": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i := 1; i < len(c.Words); i++ {
			add(i, !plainAwk(c.Words[i]), "an awk program may write files and run commands")
			if !isFlag(c.Words[i].Text) && !(i > 1 && isFlag(c.Words[i-1].Text) && len(c.Words[i-1].Text) == 2) {
				return
			}
		}
	},
	"git":    guardGit,
	"tar":    guardTar,
	"rename": guardRename, "prename": guardRename, "perl-rename": guardRename, "file-rename": guardRename,
	"patch": func(c shell.Command, p *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			for _, dir := range values(c.Words[1:], 'd', "--directory") {
				if !p.inside(dir) && (w.Text == dir.Text || strings.HasSuffix(w.Text, dir.Text)) {
					add(i+1, false, "patch -d "+short(dir.Text)+" leaves the workspace")
				}
			}
		}
	},
	"tsc": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "@") {
				add(i+1, true, "tsc "+short(w.Text)+" takes its options from a file")
			}
		}
	},
	"curl": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			t := w.Text
			if v, ok := cookies(c.Words, i+1); ok && !strings.Contains(v, "=") {
				add(i+1, false, "curl "+short(v)+" is a file whose cookies it sends")
			}
			if strings.Contains(t, "output{") || strings.HasPrefix(t, "--expand-") || strings.HasPrefix(t, "@") || strings.HasPrefix(t, "-d@") ||
				strings.Contains(t, "=@") || strings.Contains(t, "=<") || strings.HasPrefix(strings.ToLower(t), "file:") {
				add(i+1, false, "curl "+short(t)+" reads or writes a file")
			}
			if opt, v, cut := strings.Cut(t, "="); begins("--data-urlencode", opt, 8) || begins("--url-query", opt, 7) {
				if !cut && i+2 < len(c.Words) {
					v = c.Words[i+2].Text
				}
				if strings.Contains(v, "@") {
					add(i+1, false, "curl "+short(v)+" reads a file")
				}
			}
		}
	},
	"go": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.Contains(w.Text, "-extld") || strings.Contains(w.Text, "-extar") || (w.Text == "-w" || w.Text == "-u") && c.Words[1].Text == "env" {
				add(i+1, true, "go "+short(w.Text)+" does more than the rule says")
			}
		}
	},
	"make": func(c shell.Command, p *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			i++
			t := w.Text
			switch {
			case !isFlag(t) && strings.Contains(t, "="):
				add(i, true, "make "+short(t)+" changes what its recipes run")
			case strings.HasPrefix(t, "--ev") || strings.HasPrefix(t, "-E"):
				add(i, true, "make "+short(t)+" runs what it is given")
			case strings.HasPrefix(t, "-f") || strings.HasPrefix(t, "--fi") || strings.HasPrefix(t, "--mak") || strings.HasPrefix(t, "-I") || strings.HasPrefix(t, "--in"):
				add(i, true, "make "+short(t)+" reads other recipes")
			case t == "-C" || t == "--directory":
				if i+1 < len(c.Words) && !p.inside(c.Words[i+1]) {
					add(i, true, "make "+t+" leaves the workspace")
				}
			case isFlag(t) && t[1] != '-' && strings.ContainsAny(cluster(t[1:], "jloWO"), "fIE"):
				add(i, true, "make "+short(t)+" reads other recipes")
			case isFlag(t) && t[1] != '-' && len(t) > 2 && strings.Contains(cluster(t[1:], "jloWO"), "C") && t[1] != 'C':
				add(i, true, "make "+short(t)+" runs elsewhere")
			case strings.HasPrefix(t, "-C") || strings.HasPrefix(t, "--d") && strings.Contains(t, "="):
				_, v, _ := strings.Cut(t, "=")
				if strings.HasPrefix(t, "-C") {
					v = t[2:]
				}
				if !p.inside(shell.Word{Text: v}) {
					add(i, true, "make "+short(t)+" leaves the workspace")
				}
			}
		}
	},
	"npm":  guardSettings,
	"pnpm": guardSettings,
	"yarn": guardSettings,
	"pip":  guardSettings,
	"gh":   guardSettings,
	"mvn":  guardGoals, "gradle": guardGoals, "tox": guardGoals,
	"uniq": func(c shell.Command, _ *place, add func(int, bool, string)) {
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
	"test": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			i++
			switch w.Text {
			case "-v", "-R":
				add(i, true, "test "+w.Text+" may run what stands in a name")
			case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
				for _, k := range []int{i - 1, i + 1} {
					if k < len(c.Words) && k > 0 && !isNumber(c.Words[k].Text) {
						add(k, true, "test "+w.Text+" evaluates "+short(c.Words[k].Text))
					}
				}
			}
		}
	},
	"printf": func(c shell.Command, _ *place, add func(int, bool, string)) {
		if len(c.Words) > 1 && strings.HasPrefix(c.Words[1].Text, "-v") {
			add(never, true, "printf -v may run what stands in a name")
		}
	},
	"set": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if !setOptions.MatchString(w.Text) && w.Text != "pipefail" {
				add(i+1, true, "set "+short(w.Text)+" changes what the shell does next")
			}
		}
	},
	"tee": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if !isFlag(w.Text) && w.Text != "/dev/null" {
				add(i+1, false, "tee writes "+short(w.Text))
			}
		}
	},
	"dd": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "of=") && w.Text != "of=/dev/null" {
				add(i+1, false, "dd writes "+short(w.Text[3:]))
			}
		}
	},
	"xargs": func(c shell.Command, _ *place, add func(int, bool, string)) {
		add(never, true, "xargs adds words that only the run shows")
	},
	"parallel": func(c shell.Command, _ *place, add func(int, bool, string)) {
		add(never, true, "parallel adds words that only the run shows")
	},
	"ssh": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i := 1; i < len(c.Words); i++ {
			add(i, true, "it acts on another machine")
		}
		if c.Starts {
			return
		}
		if c.Piped || c.Stdin != nil {
			add(never, true, "the other machine runs what it is given to read")
		}
		add(exactOnly, true, "the other machine runs what it is given to read")
	},
	"less": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "+") {
				add(i+1, true, "less "+short(w.Text)+" may run a command")
			}
		}
	},
	"vim": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "+") {
				add(i+1, true, "an editor's "+short(w.Text)+" may run a command")
			}
		}
	},
	"cargo": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.HasSuffix(w.Text, ".json") { // it may name a linker
				add(i+1, true, "cargo "+short(w.Text)+" may say what cargo runs")
			}
		}
	},
	"pytest": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "@") {
				add(i+1, true, "pytest reads options from "+short(w.Text[1:]))
			}
		}
	},
	"wget": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if opt, _, _ := strings.Cut(w.Text, "="); begins("--use-askpass", opt, 7) || begins("--execute", opt, 4) || strings.HasPrefix(w.Text, "-e") {
				add(i+1, true, "wget "+short(w.Text)+" may run a program")
			}
		}
	},
	"socat": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			up := strings.ToUpper(w.Text)
			if strings.HasPrefix(up, "EXEC") || strings.HasPrefix(up, "SYSTEM") || strings.HasPrefix(up, "SHELL") || strings.Contains(up, "!!") {
				add(i+1, true, "socat "+short(w.Text)+" gives a program to another machine")
			}
		}
	},
	"rsync": func(c shell.Command, _ *place, add func(int, bool, string)) {
		for i, w := range c.Words[1:] {
			if !isFlag(w.Text) && strings.Contains(w.Text, ":") {
				add(i+1, false, "rsync copies to or from another machine")
			}
		}
	},
}

// cookies is what word i of curl gives it as cookies: text, or the name of a file when it has no =.
func cookies(w []shell.Word, i int) (string, bool) {
	opt, v, cut := strings.Cut(w[i].Text, "=")
	switch {
	case begins("--cookie", opt, 8) && opt != "--cookie-jar" && cut:
		return v, true
	case opt == "--cookie", isFlag(opt) && opt[1] != '-' && opt[len(opt)-1] == 'b' && strings.IndexByte(cluster(opt[1:], curlValues), 'b') < 0 && !strings.ContainsAny(opt[1:len(opt)-1], curlValues):
		if i+1 < len(w) {
			return w[i+1].Text, true
		}
	case strings.HasPrefix(w[i].Text, "-b"):
		return w[i].Text[2:], true
	}
	return "", false
}

// curlValues are the short options of curl that take a value.
const curlValues = "AbCdEeFHmPQrTtUuwXxYyzoKcD"

// guardTar looks for archives on other machines and for archives that say where they are unpacked.
func guardTar(c shell.Command, _ *place, add func(int, bool, string)) {
	anywhere := guarded{short: "P", values: tables["tar"].values, long: []string{"--absolute-names"}}
	for i, w := range c.Words[1:] {
		t := w.Text
		if begins("--remove-files", t, 8) {
			add(i+1, false, "tar "+short(t)+" removes files")
		}
		if host, _, ok := strings.Cut(t, ":"); ok && !strings.Contains(host, "/") && host != "" {
			add(i+1, true, "tar connects to the machine "+short(host))
		}
		hit := false
		switch {
		case strings.HasPrefix(t, "--"):
			hit = anywhere.hitsLong(t)
		case isFlag(t):
			hit = anywhere.hitsShort(t)
		case i == 0: // its oldest spelling has no dash
			hit = strings.Contains(t, "P") && !strings.ContainsAny(t, "./")
		}
		if hit {
			add(i+1, false, "tar "+short(t)+" writes wherever the archive says")
		}
	}
}

// guardSettings looks for package managers' own commands that set which programs they run later.
func guardSettings(c shell.Command, _ *place, add func(int, bool, string)) {
	name := base(c.Words[0].Text)
	v := vocabularies[name]
	var at []int // the words that are no options
	for i, w := range c.Words {
		if i > 0 && !isFlag(w.Text) && !w.Dynamic {
			at = append(at, i)
		}
	}
	for k, i := range at {
		what, then := v.full(c.Words[i].Text), ""
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
		add(i, true, name+" "+what+" "+then+" changes what "+name+" runs later")
		return
	}
}
