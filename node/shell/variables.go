package shell

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"fairlead/node/sandbox"
)

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
	env := environ("")
	if t.opts.Box != nil && t.opts.Profile.Mode != sandbox.Full {
		env = sandbox.Environ("", t.opts.Env)
	}
	var names []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		names = append(names, name)
	}
	if runtime.GOOS != "windows" {
		home, _ := os.UserHomeDir()
		names = append(names, profileVariables("/etc", home)...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" || len(n) > 128 || strings.ContainsAny(n, "\n\r") })
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxVariables)]
}

// profileVariables returns the variables set in the files that a login shell reads.
func profileVariables(etc, home string) (names []string) {
	var files []string
	for _, name := range []string{"profile", "environment", "zshenv", "zprofile", "zsh/zshenv", "zsh/zprofile", "bash.bashrc"} {
		files = append(files, filepath.Join(etc, name))
	}
	more, _ := filepath.Glob(filepath.Join(etc, "profile.d", "*.sh")) // the pattern is valid
	files = append(files, more...)
	if home != "" {
		for _, name := range []string{".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv", ".zprofile", ".zshrc", ".config/fish/config.fish"} {
			files = append(files, filepath.Join(home, name))
		}
	}
	for _, name := range files {
		for _, m := range assignment.FindAllStringSubmatch(readHead(name), -1) {
			names = append(names, m[1]+m[2])
		}
	}
	return names
}

// readHead returns the first bytes of a file; "" if it is not a regular file or cannot be read.
func readHead(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProfile))
	if err != nil {
		return ""
	}
	return string(data)
}
