package tools

import (
	"os"
	"strings"
)

// dropped are variables a command does not inherit: our token, and those that make every program load or run something else.
var dropped = map[string]bool{
	"FAIRLEAD_TOKEN": true, "LD_PRELOAD": true, "LD_AUDIT": true, "DYLD_INSERT_LIBRARIES": true, "BASH_ENV": true, "ENV": true,
	"PROMPT_COMMAND": true, "NODE_OPTIONS": true, "PERL5OPT": true, "PERL5DB": true, "RUBYOPT": true, "PYTHONSTARTUP": true,
	"PYTHONINSPECT": true, "GIT_EXTERNAL_DIFF": true,
}

// environ is the environment of a command in dir. FAIRLEAD=1 tells scripts who runs them.
func environ(dir string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if dropped[name] || strings.HasPrefix(name, "BASH_FUNC_") || name == "PWD" || name == "OLDPWD" || name == "FAIRLEAD" {
			continue
		}
		env = append(env, kv)
	}
	return append(env, "PWD="+dir, "FAIRLEAD=1")
}

// quiet keeps programs from asking what nobody answers: without a terminal nobody pages, types a password or uses an editor.
func quiet(env []string, tty bool) []string {
	if tty {
		return append(env, "TERM=xterm-256color")
	}
	return append(env, "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "EDITOR=false", "GIT_EDITOR=false")
}
