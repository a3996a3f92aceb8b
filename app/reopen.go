package app

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"fairlead/app/backend"
	"fairlead/gateway/peer/crash"
)

const (
	// crashed is the exit code of a process whose windows have failed.
	crashed = 3
	// reopenAfter is how long windows must have worked before they are opened again.
	reopenAfter = time.Minute
)

// reopenArgs returns the arguments of a process that opens the windows of this one's gateway.
func reopenArgs(f flags, home string, b *backend.Backend) []string {
	args := []string{"--reopened", "--home", home, "--workspace", b.Workspace()}
	switch {
	case f.join != "": // the name of the pairing, or an address
		args = append(args, "--join", f.join)
	case b.Listen() != "":
		args = append(args, "--listen", b.Listen())
	}
	if f.withParent {
		args = append(args, "--with-parent")
	}
	return args
}

// reopenWindows opens the windows in another process after a panic in the windows of this one, whose
// gateway and machine go on. It blocks until the person quits there, and returns a *crash.Error if
// those windows fail soon, too.
func reopenWindows(args []string, now func() time.Time) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for {
		began := now()
		cmd := exec.Command(program, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		err := cmd.Run()
		exit, _ := errors.AsType[*exec.ExitError](err)
		switch {
		case exit == nil || exit.ExitCode() != crashed:
			return err
		case now().Sub(began) < reopenAfter:
			return &crash.Error{Work: "the windows"}
		}
	}
}
