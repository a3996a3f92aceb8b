package tools

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"fairlead/node/sandbox"
)

// maxCommand is what a Windows command line may hold, less the shell's own part.
const maxCommand = 32_000

// shell is PowerShell, or cmd.exe where there is none.
func shell() string {
	for _, name := range []string{"pwsh.exe", "powershell.exe"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if s := os.Getenv("ComSpec"); s != "" {
		return s
	}
	return "cmd.exe"
}

func bourne(string) bool { return false }

func isCmd(shell string) bool { return strings.HasSuffix(strings.ToLower(shell), "cmd.exe") }

// shellArgs are the words of a command line. cmd.exe has its own rules for quotes, which only shellCommand obeys.
func shellArgs(shell, command string) []string {
	if isCmd(shell) {
		return []string{shell, "/d", "/s", "/c", command}
	}
	return []string{shell, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command}
}

func shellCommand(shell, command string, _ bool) *exec.Cmd {
	args := shellArgs(shell, command)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	if isCmd(shell) {
		cmd.SysProcAttr.CmdLine = `cmd.exe /d /s /c "` + command + `"`
	}
	return cmd
}

// terminate does nothing: Windows has no signal that asks a tree of console programs to end.
func terminate(*exec.Cmd) {}

// kill ends the process and its descendants.
func kill(cmd *exec.Cmd) {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run(); err != nil {
		cmd.Process.Kill()
	}
}

func ended(state *os.ProcessState) sandbox.Exit { return sandbox.Exit{Code: state.ExitCode()} }

// takeRest has nothing to take: pipes here have no deadline, so the reader has had everything.
func takeRest(*os.File, io.Writer) (open bool) { return false }

func startError(err error) error { return err }
