package sandbox

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// passed are the variables a command inherits: who the user is, where programs and folders are, how text and time are written (sandbox.md 3.8).
// What a login shell's own files set comes back by itself, as the shell is a login shell.
var passed = []string{
	"HOME", "PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "SSH_AUTH_SOCK",
	"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
}

// passedWindows are without which hardly a Windows program starts.
var passedWindows = []string{
	"SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "COMSPEC", "PATHEXT",
	"TEMP", "TMP", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE",
	"HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "PUBLIC",
	"COMPUTERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS", "PSMODULEPATH",
}

// sockets are variables that name a door to another process of the user: an agent with keys, a bus, a screen. Only an uncontained command gets
// them.
var sockets = []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"}

// neverPrefix and never make programs load or run something else, or are ours; they are not passed even when declared.
var (
	neverPrefix = []string{"LD_", "DYLD_", "BASH_FUNC_", "FAIRLEAD_", "GIT_", "PYTHON", "PERL5"}
	never       = []string{
		"BASH_ENV", "ENV", "PROMPT_COMMAND", "NODE_OPTIONS", "RUBYOPT", "RUBYLIB", "PERLLIB", "SHELLOPTS", "BASHOPTS", "IFS", "PS4",
		"ZDOTDIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LESSOPEN", "LESSCLOSE", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_TRACE",
		"PWD", "OLDPWD", "FAIRLEAD",
	}
	// gitHarmless are variables of git that say who writes a commit.
	gitHarmless = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE"}
)

// Environ is the environment of a command in dir, made from this process's: a short list of variables and what extra declares, each entry a NAME
// to inherit or NAME=value. Variables that make programs load or run something else, and our own, are left out even when declared. FAIRLEAD=1
// tells scripts who runs them. Start takes the variables that name sockets of the user's session (SSH_AUTH_SOCK, the bus, the screen) out again
// for a contained command.
//
// A list of what is passed, not of what is dropped: tokens and passwords live in variables nobody can list.
func Environ(dir string, extra []string) []string {
	return environ(os.Environ(), dir, extra, runtime.GOOS == "windows")
}

func environ(from []string, dir string, extra []string, windows bool) []string {
	var env []string
	names := passed
	if windows {
		names = append(slices.Clip(names), passedWindows...)
	}
	for _, kv := range from {
		name, _, _ := strings.Cut(kv, "=")
		if windows {
			name = strings.ToUpper(name)
		}
		wanted := slices.Contains(names, name) || strings.HasPrefix(name, "LC_") || slices.ContainsFunc(extra, func(e string) bool {
			return e == name || windows && strings.EqualFold(e, name)
		})
		if wanted && !forbidden(name) {
			env = append(env, kv)
		}
	}
	for _, e := range extra {
		if name, _, ok := strings.Cut(e, "="); ok && name != "" && !forbidden(name) {
			env = set(env, name, e[len(name)+1:])
		}
	}
	return append(env, "PWD="+dir, "FAIRLEAD=1")
}

func forbidden(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(gitHarmless, name) {
		return false
	}
	return slices.Contains(never, name) || slices.ContainsFunc(neverPrefix, func(p string) bool { return strings.HasPrefix(name, p) })
}

// set gives a variable one value, whatever it had.
func set(env []string, name, value string) []string {
	env = unset(env, name)
	return append(env, name+"="+value)
}

func unset(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}
