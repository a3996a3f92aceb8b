package shell

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

func (o invocation) launch(l launcher) {
	i := 1
	for again := true; again; {
		from := i
		i = o.skip(i, l)
		for o.name == "env" && i < len(o.c.Words) && o.c.Words[i].Text == "-" { // means -i
			i = o.skip(i+1, l)
		}
		for j := from; j < i && j < len(o.c.Words); j++ {
			o.scriptOption(l, j)
		}
		again = false
		for l.assigns && i < len(o.c.Words) && isAssign(o.c.Words[i].Text) {
			o.assignWord(i)
			i++
			again = true
		}
	}
	if o.name == "su" || o.name == "sg" || o.name == "script" || o.name == "flock" || o.name == "runuser" {
		for j := i; j < len(o.c.Words); j++ { // their -c may follow the operand
			o.scriptOption(l, j)
		}
	}
	switch {
	case l.joined:
		o.startJoined(i + l.skip)
	case o.name == "su" || o.name == "script" || o.name == "dotenv" && i < len(o.c.Words) && o.c.Words[i].Text == "run":
		o.startWords(o.operand(i+1, ""))
	default:
		if i+l.skip < len(o.c.Words) && o.c.Words[i+l.skip].Text == "--" {
			i++
		}
		o.startWords(i + l.skip)
	}
}

// scriptOption parses word j as -cTEXT, -c TEXT, --command=TEXT or --split-string=TEXT.
func (o invocation) scriptOption(l launcher, j int) {
	if l.script == "" {
		return
	}
	for _, option := range []string{"--split-string", "--command", "--call"} {
		if v, ok := optionValue(o.c.Words, j, option); ok {
			o.script(v, POSIX)
			return
		}
	}
	t := o.c.Words[j].Text
	k := strings.IndexAny(t, l.script)
	switch {
	case k < 1 || t[0] != '-' || t[1] == '-':
	case k+1 < len(t):
		o.script(Word{Text: t[k+1:], Dynamic: o.c.Words[j].Dynamic}, POSIX)
	case j+1 < len(o.c.Words):
		o.script(o.c.Words[j+1], POSIX)
	}
}

func isAssign(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && !strings.ContainsAny(name, "-/ \t\n")
}

func (o invocation) assignWord(i int) {
	w := o.c.Words[i]
	name, v, _ := strings.Cut(w.Text, "=")
	value := w
	o.a.setNumber(name, value.Plain() && number.MatchString(v))
	value.Text = v
	o.a.facts.Assigns = append(o.a.facts.Assigns, Assign{Name: name, Value: value, Text: w.Text, Guess: o.a.guess, Command: o.at, WordIndex: i})
}

//go:embed programs.txt
var programsText string

// programs are the lines of programs.txt, by their names.
var programs = ParseTable(programsText)

// TableLines returns the lines of a table. One that starts with blanks continues the one before.
func TableLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\n  ", " "), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" || line[0] == '#' })
}

// ParseTable returns the words of a table by the names before them.
func ParseTable(text string) map[string][]string {
	m := map[string][]string{}
	for _, line := range TableLines(text) {
		name, words, _ := strings.Cut(line, ":")
		m[name] = strings.Fields(words)
	}
	return m
}

// launcher describes the position of the started command in a program's arguments.
type launcher struct {
	values  string   // short options with a value
	longs   []string // long options whose value is the next word
	skip    int      // operands before the command
	assigns bool     // NAME=VALUE words may precede the command
	script  string   // short options whose value is a text for a shell
	joined  bool     // the rest is joined by spaces and passed to a shell
}

var launchers = func() map[string]launcher {
	m := map[string]launcher{}
	for name, words := range programs {
		program, ok := strings.CutPrefix(name, "launch ")
		if !ok {
			continue
		}
		var l launcher
		for _, w := range words {
			switch key, value, _ := strings.Cut(w, "="); key {
			case "values":
				l.values = value
			case "longs":
				l.longs = strings.Split(value, ",")
			case "skip":
				l.skip, _ = strconv.Atoi(value)
			case "script":
				l.script = value
			case "assigns":
				l.assigns = true
			case "joined":
				l.joined = true
			}
		}
		for name := range strings.SplitSeq(program, "|") {
			m[name] = l
		}
	}
	return m
}()

// shellOf returns the language of a shell of the Bourne family.
func shellOf(program string) (Kind, bool) {
	words, ok := programs["shell "+program]
	if !ok {
		return "", false
	}
	return Kind(words[0]), true
}

// IsShell reports whether a program is a shell of the Bourne family.
func IsShell(name string) bool { _, ok := shellOf(BaseName(name)); return ok }

// IsLauncher reports whether a program is known to start the command in its arguments.
func IsLauncher(name string) bool { _, ok := launcherOf(BaseName(name)); return ok }

// IsLoader reports whether a program is the dynamic loader, such as ld-linux-x86-64.so.2.
func IsLoader(name string) bool {
	name = BaseName(name)
	return name == "ld.so" || strings.HasPrefix(name, "ld-") && strings.Contains(name, ".so")
}

func launcherOf(name string) (launcher, bool) {
	l, ok := launchers[name]
	if !ok && IsLoader(name) {
		return launcher{longs: []string{"preload", "library-path", "audit", "argv0", "inhibit-rpath", "glibc-hwcaps-prepend", "glibc-hwcaps-mask"}}, true
	}
	return l, ok
}
