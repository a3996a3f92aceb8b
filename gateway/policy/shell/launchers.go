package shell

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed programs.txt
var programsText string

// programs are the lines of programs.txt: the words, by kind and program.
var programs = parsePrograms(programsText)

func parsePrograms(text string) map[string]map[string][]string {
	m := map[string]map[string][]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		head, words, _ := strings.Cut(line, ":")
		kind, program, _ := strings.Cut(head, " ")
		if m[kind] == nil {
			m[kind] = map[string][]string{}
		}
		m[kind][program] = strings.Fields(words)
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
	for program, words := range programs["launch"] {
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
		m[program] = l
	}
	return m
}()

// shellOf returns the language of a shell of the Bourne family.
func shellOf(program string) (Kind, bool) {
	words, ok := programs["shell"][program]
	if !ok {
		return "", false
	}
	return Kind(words[0]), true
}

// IsShell reports whether a program is a shell of the Bourne family.
func IsShell(name string) bool { _, ok := shellOf(BaseName(name)); return ok }

// IsLauncher reports whether a program is known to start the command in its arguments.
func IsLauncher(name string) bool { _, ok := launcherOf(BaseName(name)); return ok }

// IsLoader reports whether a program is the dynamic loader, such as ld-linux-x86-64.so.2, which can
// be run directly.
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
