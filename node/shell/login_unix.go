//go:build unix

package shell

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/node/sandbox"

	"golang.org/x/sys/unix"
)

// A login shell reads the person's profile, which may do anything: change the folder, print, replace
// the shell, read the input, or never end. So the profile only contributes variables, limits and the
// mask of new files. A command starts in three steps of one process:
//
//  1. outerScript moves the files of the command away, and runs the login shell with the null
//     device instead of them.
//  2. After the profile, the login shell becomes innerScript in a plain shell: it enters the
//     folder, puts the files back, and prints a marker. Then it waits for the node.
//  3. When the node has seen the marker at the other end of the command's output, it sends goWord,
//     and the script becomes the command, in a shell that reads no profile.
//
// A profile that prevents this never gets goWord, so its command has certainly not started, and
// starts again without the profile.
//
// The scripts run in any POSIX shell, and the words after -lc also in fish.
const (
	outerScript = `exec 6<&3 3<&- 7<&0 8>&1 </dev/null >/dev/null 2>&1 || exit
exec "$FAIRLEAD_SHELL" -lc 'exec /bin/sh -c "$FAIRLEAD_START"'`
	plainScript = `exec 6<&3 3<&- 7<&0 8>&1 || exit
eval "$FAIRLEAD_START"`
	// innerScript removes functions that a shell called sh may have inherited, and variables that
	// decide what a later shell runs or where it goes.
	innerScript = `unset -f cd printf read
cd -- "$FAIRLEAD_DIR" && exec <&7 >&8 2>&8 7<&- 8>&- || exit
printf %s "$FAIRLEAD_MARKER"
IFS= read -r answer <&6 || exit
case $answer in "` + goWord + `") ;; *) exit ;; esac
exec 6<&-
set -- "$FAIRLEAD_SHELL" $FAIRLEAD_FLAG -c "$FAIRLEAD_COMMAND"
unset FAIRLEAD_SHELL FAIRLEAD_FLAG FAIRLEAD_COMMAND FAIRLEAD_DIR FAIRLEAD_MARKER FAIRLEAD_START
unset answer OLDPWD CDPATH ENV BASH_ENV PROMPT_COMMAND
exec "$@"`
	goWord = "go"
)

// withoutProfile returns the option with which a shell reads no files of its own when it runs a
// command; bash then also ignores functions and options in the environment.
func withoutProfile(shell string) string {
	switch filepath.Base(shell) {
	case "bash":
		return "-p"
	case "zsh", "csh", "tcsh":
		return "-f"
	case "fish":
		return "-N"
	case "pwsh":
		return "-NoProfile"
	}
	return ""
}

// launch starts a command: in the box if there is one, else as a plain child of this process. It
// returns when the command itself runs; note says that it runs without the profile.
func (l *launcher) launch(ctx context.Context, o startRequest, s streams) (child *sandbox.Process, note string, err error) {
	sh := cmp.Or(o.shell, Path())
	key := l.profiles.key(sh, o.account)
	if l.profiles.isUsable(key) {
		child, reason, err := l.attempt(ctx, o, s, outerScript, l.profileLimit)
		if err != nil || reason == "" {
			if err == nil {
				l.profiles.setWorking(key)
			}
			return child, "", err
		}
		if warning := l.profiles.setBroken(key, reason); warning != "" {
			l.log.Warn("Login profile does not start commands", "shell", sh, "reason", reason)
			note = warning
		}
	}
	child, reason, err := l.attempt(ctx, o, s, plainScript, shellLimit)
	if err == nil && reason != "" {
		err = fmt.Errorf("%s does not start commands: %s", sh, reason)
	}
	return child, note, err
}

// attempt starts a command with one of the scripts. A reason says why the command did not start;
// then none of its processes is left.
func (l *launcher) attempt(ctx context.Context, o startRequest, s streams, script string, within time.Duration) (child *sandbox.Process, reason string, err error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, "", err
	}
	defer ours.Close()
	sh, marker := cmp.Or(o.shell, Path()), rand.Text()
	// A profile cannot set variables whose names it does not know.
	named := strings.NewReplacer("FAIRLEAD_", "FAIRLEAD_"+marker+"_").Replace
	spec := l.spec(o, s)
	spec.Argv, spec.Control = []string{"/bin/sh", "-c", named(script)}, theirs
	for name, value := range map[string]string{
		"SHELL": sh, "FLAG": withoutProfile(sh), "COMMAND": o.command, "DIR": o.dir, "MARKER": marker, "START": named(innerScript),
	} {
		spec.Env = append(spec.Env, named("FAIRLEAD_"+name)+"="+value)
	}
	child, err = l.confinement.start(spec)
	theirs.Close()
	if err != nil {
		return nil, "", err
	}
	reason, err = l.awaitMarker(ctx, child, s, marker, within)
	if reason == "" && err == nil {
		if _, err := ours.WriteString(goWord + "\n"); err == nil {
			return child, "", nil
		}
		reason = "the shell has ended"
	}
	child.Kill()
	if !waitAll(reapLimit, child.Done()) && err == nil {
		err = errors.New("a process of the login profile cannot be ended")
	}
	return nil, reason, err
}

// awaitMarker reads the output of a command that is starting up to the marker. It returns why the
// command does not start, or an error if waiting was given up.
func (l *launcher) awaitMarker(ctx context.Context, child *sandbox.Process, s streams, marker string, within time.Duration) (reason string, err error) {
	found := make(chan bool, 1)
	crash.Go(func() {
		ok := false
		defer func() { found <- ok }()
		ok = readMarker(s.out, marker)
	})
	interrupt := func() { // a terminal has no deadlines
		s.childOut.WriteString(marker)
		<-found
	}
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case ok := <-found:
		if !ok {
			reason = "its output cannot be read"
		}
	case <-child.Exited():
		interrupt()
		exit, _ := child.Wait()
		reason = fmt.Sprintf("it ended with exit code %d before the command", exit.Code)
		if exit.Signal != "" {
			reason = "it was ended by " + exit.Signal
		}
	case <-limit.C:
		interrupt()
		reason = fmt.Sprintf("%s within %s", reasonHangs, within)
	case <-ctx.Done():
		interrupt()
		err = toolkit.Failf("cancelled before it started")
	case <-l.closing:
		interrupt()
		err = errClosing
	}
	return reason, err
}

// readMarker reads until it has read a marker; what comes before it is dropped.
func readMarker(out *os.File, marker string) bool {
	var last []byte
	for buf := make([]byte, 4<<10); ; {
		n, err := out.Read(buf)
		last = append(last, buf[:n]...)
		if bytes.Contains(last, []byte(marker)) {
			return true
		}
		if err != nil {
			return false
		}
		last = append(last[:0], last[max(0, len(last)-len(marker)):]...)
	}
}

// socketPair returns the two ends of a connection, of which commands inherit only what is passed to
// them.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}
