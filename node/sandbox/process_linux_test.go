package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

func TestExitIsTheCommandsOwn(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for script, want := range map[string]sandbox.Exit{
			"exit 0": {}, "exit 42": {Code: 42}, "kill -9 $$": {Code: -1, Signal: "SIGKILL"}, "kill -TERM $$": {Code: -1, Signal: "SIGTERM"},
		} {
			for _, mode := range []sandbox.Mode{sandbox.Full, sandbox.WorkspaceWrite} {
				s := k.spec(script)
				s.Profile.Mode = mode
				if _, e := k.run(s); e != want {
					t.Errorf("%s (%s): %+v, want %+v", script, mode, e, want)
				}
			}
		}
		s := k.spec("")
		s.Argv = []string{"/no/such/program"}
		if _, err := k.box.Start(s); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a program that does not exist: got error %v, want ErrNotExist", err)
		}
		s = k.spec("true")
		s.Dir = filepath.Join(k.ws, "nowhere")
		if _, err := k.box.Start(s); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a folder that does not exist: got error %v, want ErrNotExist", err)
		}
		s = k.spec("true")
		s.Argv[2] = strings.Repeat("x", 200<<10)
		if _, err := k.box.Start(s); !errors.Is(err, unix.E2BIG) {
			t.Errorf("an argument that is too long: got error %v, want E2BIG", err)
		}
		s = k.spec("head -c 5; echo .; wc -c <<EOF\n" + strings.Repeat("y", 100<<10) + "\nEOF")
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		io.WriteString(w, "\xff\xfe\x00in")
		w.Close()
		s.Stdin = in
		if out, e := k.run(s); e.Code != 0 || out != "\xff\xfe\x00in.\n102401" {
			t.Errorf("bytes in and out and a long command: got %q, %+v; want the same bytes and success", out, e)
		}
	})
}

func TestPTYIsTheControllingTerminal(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec(`test -t 0 && echo one >/dev/tty && echo two >"$(tty)" && echo end`)
		if got := k.runInTerminal(s); got != "one\ntwo\nend\n" {
			t.Errorf("got %q, want %q", got, "one\ntwo\nend\n")
		}
	})
}

// runInTerminal returns the output of a command that runs in a terminal, and fails the test if the
// command does.
func (k *kit) runInTerminal(s sandbox.Spec) string {
	k.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		k.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		k.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		k.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		k.Fatal(err)
	}
	s.Stdin, s.Stdout, s.Stderr, s.PTY = slave, slave, slave, true
	p, err := k.box.Start(s)
	slave.Close()
	if err != nil {
		k.Fatal(err)
	}
	out, _ := io.ReadAll(master) // ends with EIO
	if e, err := p.Wait(); err != nil || e.Code != 0 {
		k.Errorf("%+v %v (%s); want no error and Code 0", e, err, out)
	}
	return strings.ReplaceAll(string(out), "\r", "")
}
