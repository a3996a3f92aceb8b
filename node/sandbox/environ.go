package sandbox

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// inherited are the variables that a command inherits: the user, locations of programs and folders,
// formats of text and time. Variables that a login shell's own files set come back by themselves,
// because the shell is a login shell.
var inherited = []string{
	"HOME", "PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "SSH_AUTH_SOCK",
	"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
}

// passedWindows are variables that almost every Windows program needs.
var passedWindows = []string{
	"SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "COMSPEC", "PATHEXT",
	"TEMP", "TMP", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE",
	"HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "PUBLIC",
	"COMPUTERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS", "PSMODULEPATH",
}

// sockets are variables that name a socket of another process of the user: an agent with keys, a
// bus, a screen. Only an uncontained command gets them.
var sockets = []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"}

// neverInheritedPrefix and never are variables that make programs load or run something else, or
// that are ours; they are not passed even when declared.
var (
	neverInheritedPrefix = []string{"LD_", "DYLD_", "BASH_FUNC_", "FAIRLEAD_", "GIT_", "PYTHON", "PERL5"}
	neverInherited       = []string{
		"BASH_ENV", "ENV", "PROMPT_COMMAND", "NODE_OPTIONS", "RUBYOPT", "RUBYLIB", "PERLLIB", "SHELLOPTS", "BASHOPTS", "IFS", "PS4",
		"ZDOTDIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LESSOPEN", "LESSCLOSE", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_TRACE",
		"PWD", "OLDPWD", "FAIRLEAD",
	}
	// gitHarmless are git's variables for the author of a commit.
	gitHarmless = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE"}
)

// Environ returns the environment of a command in dir, made from this process's environment: a
// short list of variables and those declared in extra, each a NAME to inherit or NAME=value.
// Variables that make programs load or run something else, and our own, are left out even when
// declared. FAIRLEAD=1 tells scripts which program runs them. For a contained command, Start
// removes the variables that name sockets of the user's session (SSH_AUTH_SOCK, the bus, the
// screen).
//
// It is a list of variables to pass, not to drop, because nobody can list all variables that
// contain tokens and passwords.
func Environ(dir string, extra []string) []string {
	return environ(os.Environ(), dir, extra, runtime.GOOS == "windows")
}

func environ(from []string, dir string, extra []string, windows bool) []string {
	var env []string
	names := inherited
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
		if wanted && !isForbidden(name) {
			env = append(env, kv)
		}
	}
	for _, e := range extra {
		if name, _, ok := strings.Cut(e, "="); ok && name != "" && !isForbidden(name) {
			env = set(env, name, e[len(name)+1:])
		}
	}
	return append(env, "PWD="+dir, "FAIRLEAD=1")
}

func isForbidden(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(gitHarmless, name) {
		return false
	}
	return slices.Contains(neverInherited, name) || slices.ContainsFunc(neverInheritedPrefix, func(p string) bool { return strings.HasPrefix(name, p) })
}

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
