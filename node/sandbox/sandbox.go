package sandbox

import (
	"fmt"
	"os"

	"fairlead/node/sandbox/supervisor"
)

// Mode says what a command may do with files.
type Mode string

const (
	// ReadOnly lets a command read everything but secrets and write only to its private temporary folder.
	ReadOnly Mode = "read-only"
	// WorkspaceWrite, the default, lets it also write to the workspace and the granted folders.
	WorkspaceWrite Mode = "workspace-write"
	// Full contains nothing; the command's processes are still ended together.
	Full Mode = "full"
)

// Network says whether a command may use the network. Asking a person happens before, in the gateway.
type Network string

const (
	// NetBlocked, the default, leaves a command no socket but pairs of Unix ones, and on Linux from Landlock ABI 9 on Unix sockets in the folders
	// that it may write.
	NetBlocked Network = "blocked"
	// NetAllowed lets it use every network, and the Unix sockets of the user's services.
	NetAllowed Network = "allowed"
)

// Profile is what one command may do. The zero value is WorkspaceWrite without a workspace and with the network blocked.
type Profile struct {
	Mode    Mode
	Network Network
	// Workspace is the absolute path of the workspace. When secrets lie in it, as in a home folder, nothing new can be made on Linux directly in
	// it and in the folders on the way to them.
	Workspace string
	// Write are granted folders that may be written, Read granted secrets that may be read; absolute paths. A device, or /dev/shm for programs
	// that share memory, is granted like a folder.
	Write, Read []string
	// Required refuses to start where a guarantee that the profile needs is not enforced.
	Required bool
}

// Spec is one command to start. Argv[0] must be an absolute path.
type Spec struct {
	Profile Profile
	Argv    []string
	// Line is, on Windows, the command line instead of one made of Argv, for programs such as cmd.exe that take quotes their own way.
	Line string
	// Dir is an absolute path.
	Dir string
	// Env is the whole environment; see Environ. A contained command gets TMPDIR set to its private folder.
	Env []string
	// Stdin, Stdout and Stderr are the command's; nil is the null device. They stay the caller's, who may close them when Start has returned.
	Stdin, Stdout, Stderr *os.File
	// PTY makes Stdin, a terminal, the controlling terminal of the command.
	PTY bool
	// Console is, on Windows, the terminal of the command in place of the files.
	Console Console
}

// Options configure New.
type Options struct {
	// Home is the program's own data folder (FAIRLEAD_HOME); no contained command reads or writes it.
	Home string
	// Secrets are further files and folders that no contained command may read.
	Secrets []string
	// Cache is a file that keeps the result of the probe over restarts; empty is none.
	Cache string
	// Missing names layers to do without ("landlock", "bubblewrap", "seccomp", "helper"): for tests, and for people who have to find out what breaks a command.
	Missing []string
}

const (
	// TermGrace is the time between SIGTERM and SIGKILL for processes that outlive their command,
	// and for all when the box is closed or the node has died.
	TermGrace = supervisor.Grace
	// SettleTime is how long processes that outlive their command may take to end by themselves,
	// such as the end of a pipe that the shell does not wait for.
	SettleTime = supervisor.SettleTime
)

// Unavailable is the error of Start when the profile requires what this machine does not enforce.
type Unavailable struct {
	// Check is the id of the failed check of the report.
	Check string
	// Why and Fix are sentences for people; Fix may be empty.
	Why, Fix string
}

// Code is the error's name on the wire.
const Code = "SANDBOX_UNAVAILABLE"

func (u *Unavailable) Error() string {
	s := fmt.Sprintf("%s: commands must be contained, but %s is not enforced on this machine: %s.", Code, u.Check, u.Why)
	if u.Fix != "" {
		s += " " + u.Fix
	}
	return s
}

func (p Profile) normal() Profile {
	if p.Mode == "" {
		p.Mode = WorkspaceWrite
	}
	if p.Network == "" {
		p.Network = NetBlocked
	}
	return p
}

// contained reports whether p restricts anything.
func (p Profile) contained() bool { return p.Mode != Full }
