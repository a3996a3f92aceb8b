package app

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
)

const (
	// crashed is the exit code of a process whose windows have failed.
	crashed = 3
	// reopenAfter is how long windows must have worked before they are opened again.
	reopenAfter = time.Minute
)

// reopenArgs returns the arguments of a process that opens the windows of this one's gateway.
func (b *backend) reopenArgs() []string {
	args := []string{"--reopened", "--home", b.home, "--workspace", b.workspace()}
	switch {
	case b.flags.peer != nil:
		args = append(args, "--join", string(b.flags.peer.Pin))
	case b.flags.join != "":
		args = append(args, "--join", b.flags.join)
	case b.gw != nil:
		args = append(args, "--listen", strings.TrimSuffix(strings.TrimPrefix(b.gw.URL(), "ws://"), "/ws"))
	}
	if b.flags.withParent {
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

// notifyReopened says why the windows are open, if they are open again.
func (b *backend) notifyReopened() {
	if b.flags.reopened {
		b.state.Notify("warning", "The windows had an internal error and were opened again. The agent's work went on. The log has more.")
	}
}
