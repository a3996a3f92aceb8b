package shell

// terminalArgs returns the words with which a shell starts for a person or for one command, and the
// line of cmd.exe; see shellLine.
func terminalArgs(shell, command string) (argv []string, line string) {
	switch {
	case isBourne(shell) && command == "":
		return []string{shell, "-l"}, ""
	case isBourne(shell):
		return []string{shell, "-l", "-c", command}, ""
	case program(shell) == "cmd" && command == "":
		return []string{shell}, ""
	case program(shell) == "cmd":
		return []string{shell, "/d", "/s", "/c", command}, shellLine(shell, command)
	case command == "":
		return []string{shell, "-NoLogo"}, ""
	}
	return []string{shell, "-NoLogo", "-Command", utf8Output + command + exitCode}, ""
}

// shellOf is for users that commands run as, which there are none of here.
func shellOf(string) string { return "" }

// HangUp tells the program that its terminal is gone, without waiting: it closes the console, whose
// programs Windows then ends.
func (p *TerminalProcess) HangUp() { p.PTY.HangUp() }
