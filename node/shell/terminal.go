package shell

import (
	"cmp"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/pty"
	"fairlead/node/sandbox"
)

// TerminalProcess is a program that a person runs in a terminal.
type TerminalProcess struct {
	*sandbox.Process
	PTY      *pty.PTY
	Username string // the user as whom it runs; empty: the node's own
	Workdir  string
}

// StartTerminal starts what a person wants to run in a terminal: the login shell of a user, or a
// command in it. It is confined like every command of this machine, except that protected files can
// be changed and the network can be used where the person could allow that. The caller closes the
// terminal, and ends the process before the jobs are closed.
func (t *Jobs) StartTerminal(o protocol.TerminalOpen) (*TerminalProcess, error) {
	if len(o.Command) > maxCommand {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "the command is too long")
	}
	a, err := t.confinement.accountOf(o.Username)
	if err != nil {
		return nil, err
	}
	dir, err := terminalFolder(o.Workdir, a)
	if err != nil {
		return nil, err
	}
	p, err := pty.Open(o.Cols, o.Rows)
	if err != nil {
		return nil, toolkit.Failf("A terminal could not be opened: %w", err)
	}
	if p.Child != nil {
		defer p.Child.Close()
	}
	request := startRequest{command: o.Command, dir: dir, account: a, tty: true, direct: true, network: t.confinement.askNetwork}
	spec := t.launcher.spec(request, streams{childIn: p.Child, childOut: p.Child, terminal: p})
	sh := ownShell()
	if a != nil {
		sh = cmp.Or(shellOf(a.name), programShell())
		spec.Env = append(spec.Env, "SHELL="+sh)
		p.Child.Chown(int(a.UID), -1) // programs that open it by its name need this
	}
	spec.Env = append(slices.DeleteFunc(spec.Env, func(kv string) bool { return strings.HasPrefix(kv, "COLORTERM=") }), "COLORTERM=truecolor")
	spec.Argv, spec.Line = terminalArgs(sh, o.Command)
	child, err := t.confinement.start(spec)
	if err != nil {
		p.Close()
		return nil, toolkit.Failf("%s could not be started: %w", sh, startError(err))
	}
	started := &TerminalProcess{Process: child, PTY: p, Workdir: dir}
	if a != nil {
		started.Username = a.name
	}
	return started, nil
}

// ownShell returns the login shell of the node's own user. A node that the system started may lack
// SHELL.
func ownShell() string {
	if own, err := user.Current(); err == nil && os.Getenv("SHELL") == "" {
		return cmp.Or(shellOf(own.Username), Path())
	}
	return Path()
}

// terminalFolder returns the folder in which a terminal starts: that with the given name, relative
// to the user's home, or the home itself.
func terminalFolder(workdir string, a *account) (string, error) {
	home, err := os.UserHomeDir()
	if a != nil {
		home, err = a.folder(), nil
	}
	switch {
	case workdir == "" && err == nil:
		return home, nil
	case workdir == "":
		return "", protocol.NewFault(protocol.FaultFailedPrecondition, "the home folder is unknown on this machine: name a folder")
	}
	dir := workdir
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		dir = filepath.Join(home, rest)
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join(home, dir)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", protocol.NewFault(protocol.FaultNotFound, "the folder "+dir+" does not exist on this machine")
	case err != nil:
		return "", protocol.NewFault(protocol.FaultPermissionDenied, "the folder "+dir+" cannot be used: "+err.Error())
	case !info.IsDir():
		return "", protocol.NewFault(protocol.FaultInvalidArgs, dir+" is not a folder")
	}
	return dir, nil
}
