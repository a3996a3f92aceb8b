package shell

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// shells are the programs that are interactive when they are started without a script.
var shells = []string{
	"sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh", "pwsh", "powershell", "cmd", "python", "python3", "ipython", "node", "irb", "lua", "ghci", "sqlite3",
	"psql", "mysql", "redis-cli", "gdb", "bc", "ssh", "su", "top", "htop", "vi", "vim", "nano", "less", "screen", "tmux",
}

// assignments matches the variables that the gateway puts before a command.
var assignments = regexp.MustCompile(`^(?:export \w+='(?:[^']|'\\'')*'; |set "\w+=[^"]*"&& )+`)

// isInteractive reports whether a command needs a terminal: a shell or a similar program without
// arguments other than options, or a program that draws on the screen.
func isInteractive(command string) bool {
	command = assignments.ReplaceAllString(command, "")
	words := strings.Fields(command)
	if len(words) == 0 || strings.ContainsAny(command, "|&;<>()$`\n") {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(words[0])), ".exe")
	i := slices.Index(shells, name)
	if i < 0 {
		return false
	}
	if i >= slices.Index(shells, "ssh") {
		return true
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") || slices.Contains([]string{"-c", "-lc", "-e", "-m", "--version", "--help", "-V", "-h"}, w) {
			return false
		}
	}
	return true
}
