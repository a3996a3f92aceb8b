package shell

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

type commandIn struct {
	CommandID string `json:"command_id,omitempty" jsonschema:"session of an earlier call"`
	// Command is the command line; with CommandID it is text for the standard input of that command,
	// so that rules and approvals judge what is typed into a shell like a command.
	Command  string `json:"command,omitempty" jsonschema:"the command line, or with command_id the text to send to it"`
	Shell    string `json:"shell,omitempty" jsonschema:"auto (default): sh, or cmd.exe on Windows; powershell: for scripts on Windows"`
	Username string `json:"username,omitempty" jsonschema:"the user to run it as, where the node runs as root without confinement; default the node's own user"`
	Workdir  string `json:"workdir,omitempty" jsonschema:"folder to run it in, absolute or relative to the home folder; default the home folder"`
	Signal   string `json:"signal,omitempty" jsonschema:"SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGKILL"`
	// IdleTimeout is in seconds; 0 does not wait.
	IdleTimeout *float64 `json:"idle_timeout,omitempty" jsonschema:"seconds to wait without output before returning; default 5"`
}

type commandOut struct {
	CommandID  string `json:"command_id"`
	Output     string `json:"output,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	State      string `json:"state"`
	DurationMs int64  `json:"duration_ms"`
	// DroppedBytes is the number of bytes of output before Output that were not read in time.
	DroppedBytes int64 `json:"dropped_bytes,omitempty"`
	// Note has remarks on the command's start, in the first call's result, and on its end.
	Note string `json:"note,omitempty"`
	// PutBack are the protected files that the command changed unasked and that have been put back, or
	// moved to the trash.
	PutBack []protocol.ProtectedChange `json:"put_back,omitempty"`
}

// shell returns the shell whose language the command is in.
func (in commandIn) shell() string {
	if in.Shell == shellPowerShell {
		return "powershell.exe"
	}
	return programShell()
}

// line returns what programShell gets.
func (in commandIn) line() string {
	if in.Shell == shellPowerShell {
		return powershell(in.Command)
	}
	return in.Command
}

// shellPowerShell is the value of Shell for a script of PowerShell.
const shellPowerShell = "powershell"

// bash returns the same command of a user, nil for the node's own, as the arguments of Bash.
func (in commandIn) bash(a *account) bashIn {
	home, err := os.UserHomeDir()
	if a != nil {
		home, err = a.folder(), nil
	}
	dir := in.Workdir
	if err == nil && !filepath.IsAbs(workspace.Unspell(dir)) { // so that "" and "." are the same folder
		dir = workspace.Spell(filepath.Join(home, workspace.Unspell(dir)))
	}
	zero := float64(0)
	return bashIn{Command: in.Command, Workdir: dir, Pty: isInteractive(in.Command), Timeout: &zero}
}

func (in commandIn) idle() (time.Duration, error) {
	if in.IdleTimeout == nil {
		return defaultIdle, nil
	}
	v := *in.IdleTimeout
	if v < 0 || math.IsNaN(v) || v > maxIdle.Seconds() {
		return 0, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("idle_timeout must be 0 to %.0f seconds", maxIdle.Seconds()))
	}
	return time.Duration(v * float64(time.Second)), nil
}
