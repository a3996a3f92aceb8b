package shell

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"fairlead/node/sandbox"

	"golang.org/x/sys/windows"
)

// maxCommand is the limit of a Windows command line, less the shell's own part.
const maxCommand = 32_000

// Path returns the program that $SHELL names if it exists here, as in GSV; otherwise PowerShell, or
// cmd.exe if there is no PowerShell.
func Path() string {
	if s := os.Getenv("SHELL"); filepath.IsAbs(s) {
		if info, err := os.Stat(s); err == nil && info.Mode().IsRegular() {
			return s
		}
	}
	for _, name := range []string{"pwsh.exe", "powershell.exe"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return programShell()
}

// programShell returns cmd.exe, the shell of the tool command.
func programShell() string {
	if s := os.Getenv("ComSpec"); filepath.IsAbs(s) {
		return s
	}
	return filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
}

// maxLine is the maximum length of a command line of cmd.exe, less its own part.
const maxLine = 8000

// program returns a shell's name without folder and extension.
func program(shell string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(shell)), ".exe")
}

// isBourne reports whether our parser of shell commands understands a shell's language, as for
// those that come with Git.
func isBourne(shell string) bool {
	switch program(shell) {
	case "sh", "bash", "dash", "zsh", "busybox":
		return true
	}
	return false
}

// shellArgs returns the words of a command line. cmd.exe has its own rules for quotes; see
// shellLine.
func shellArgs(shell, command, dir string) []string {
	switch {
	case isBourne(shell): // its profile may change the folder
		return []string{shell, "-lc", `\cd -- '` + strings.ReplaceAll(dir, "'", `'\''`) + "' || exit; " + command}
	case program(shell) == "cmd":
		return []string{shell, "/d", "/s", "/c", command}
	}
	return []string{shell, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", utf8Output + command + exitCode}
}

// shellLine returns the whole command line for cmd.exe, which has its own rules for quotes, else
// "". With /s, cmd.exe removes the first and the last quote and nothing else.
func shellLine(shell, command string) string {
	if program(shell) != "cmd" {
		return ""
	}
	return `"` + shell + `" /d /s /c "` + command + `"`
}

// launch starts a command. There is never a note.
func (l *launcher) launch(_ context.Context, o startRequest, s streams) (child *sandbox.Process, note string, err error) {
	sh, spec := cmp.Or(o.shell, Path()), l.spec(o, s)
	spec.Argv, spec.Line = shellArgs(sh, o.command, o.dir), shellLine(sh, o.command)
	child, err = l.confinement.start(spec)
	return child, "", err
}

// readRest does nothing: pipes have no deadline here, so the reader has read everything.
func readRest(*os.File, io.Writer) (open bool) { return false }

func startError(err error) error { return err }

// signalGroup ends only the process itself: its children were in its job object, which ended with
// the node.
func signalGroup(pid int, _ bool) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	windows.TerminateProcess(h, 1)
}

// startTime returns the start time of a process; empty for one that has ended.
func startTime(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	var began, ended, kernel, user windows.Filetime
	var code uint32
	const stillActive = 259
	if windows.GetExitCodeProcess(h, &code) != nil || code != stillActive || windows.GetProcessTimes(h, &began, &ended, &kernel, &user) != nil {
		return ""
	}
	return strconv.FormatInt(began.Nanoseconds(), 10)
}
