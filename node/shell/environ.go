package shell

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// droppedVariables are the variables that a command does not inherit: our token, and those that
// make every program load or run something else.
var droppedVariables = map[string]bool{
	"FAIRLEAD_TOKEN": true, "LD_PRELOAD": true, "LD_AUDIT": true, "DYLD_INSERT_LIBRARIES": true, "BASH_ENV": true, "ENV": true,
	"PROMPT_COMMAND": true, "NODE_OPTIONS": true, "PERL5OPT": true, "PERL5DB": true, "RUBYOPT": true, "PYTHONSTARTUP": true,
	"PYTHONINSPECT": true, "GIT_EXTERNAL_DIFF": true,
}

// environ returns the environment of a command. FAIRLEAD=1 tells scripts who runs them.
func environ(dir string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if droppedVariables[name] || strings.HasPrefix(name, "BASH_FUNC_") || name == "PWD" || name == "OLDPWD" || name == "FAIRLEAD" {
			continue
		}
		env = append(env, kv)
	}
	return append(env, "PWD="+dir, "FAIRLEAD=1")
}

// nonInteractive keeps programs from waiting for input: without a terminal nobody pages, types a
// password or uses an editor.
func nonInteractive(env []string, tty bool) []string {
	if tty {
		return append(env, "TERM=xterm-256color")
	}
	return append(env, "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "EDITOR=false", "GIT_EDITOR=false")
}

// gitGuard is configuration that keeps git from running programs named by a folder when it is only
// asked for the state. A folder that looks like a bare repository, which the agent could create,
// counts only when it is named as one (git 2.38), and no file monitor is started.
var gitGuard = [][2]string{{"safe.bareRepository", "explicit"}, {"core.fsmonitor", "false"}}

// gitCount is the variable with the number of git's entries (git 2.31, git-config(1)).
const gitCount = "GIT_CONFIG_COUNT"

// guardGit adds gitGuard to git's configuration in the environment, after existing entries.
func guardGit(env []string) []string {
	n := 0
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		value, ok := strings.CutPrefix(kv, gitCount+"=")
		if ok {
			n, _ = strconv.Atoi(value)
			n = max(0, n) // git rejects an invalid number, so it is replaced
		}
		return ok
	})
	for i, entry := range gitGuard {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n+i, entry[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n+i, entry[1]))
	}
	return append(env, fmt.Sprintf("%s=%d", gitCount, n+len(gitGuard)))
}

const (
	// maxVariables is the maximum number of variable names.
	maxVariables = 2000
	// maxProfile is the maximum number of bytes that are read of one of the shell's files.
	maxProfile = 256 << 10
)

// assignment matches a variable that one of the shell's files sets.
var assignment = regexp.MustCompile(`(?m)^[ \t]*(?:(?:export|set[ \t]+-gx|setenv)[ \t]+([A-Za-z_][A-Za-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*)=)`)

// Variables lists the names of environment variables that may be set for a command, sorted: those
// that it inherits, and those that the login shell's own files set. The files are read, not run, so
// a name may be listed that a condition leaves unset. Values are ignored.
func (t *Jobs) Variables() []string {
	var names []string
	for _, kv := range t.confinement.environ("") {
		name, _, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		names = append(names, name)
	}
	home, _ := os.UserHomeDir()
	names = append(names, profileVariables("/etc", home)...)
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" || len(n) > 128 || strings.ContainsAny(n, "\n\r") })
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxVariables)]
}

func profileVariables(etc, home string) (names []string) {
	for _, name := range profileFiles(etc, home) {
		for _, m := range assignment.FindAllStringSubmatch(readHead(name, maxProfile), -1) {
			names = append(names, m[1]+m[2])
		}
	}
	return names
}

// readHead returns the first bytes of a file, at most most; "" if it is not a regular file or cannot
// be opened.
func readHead(name string, most int64) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, most))
	return string(data)
}
