//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"strings"
)

// terminalArgs returns the words with which a shell starts as a login shell, for a person or for one
// command. There is never a line.
func terminalArgs(shell, command string) (argv []string, line string) {
	switch base := filepath.Base(shell); {
	case command == "" && base == "pwsh":
		return []string{shell, "-NoLogo"}, ""
	case command == "":
		return []string{shell, "-l"}, ""
	case base == "csh", base == "tcsh", base == "pwsh": // -l works alone only
		return []string{shell, "-c", command}, ""
	}
	return []string{shell, "-l", "-c", command}, ""
}

// shellOf returns the login shell of a user as the file of users has it; empty for others.
func shellOf(user string) string {
	data, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == 7 && f[0] == user {
			return f[6]
		}
	}
	return ""
}

// HangUp tells the program that its terminal is gone, without waiting: it sends SIGHUP to the process
// group that the program leads; a shell passes it on.
func (p *TerminalProcess) HangUp() { sendSignal(p.PID(), "SIGHUP") }
