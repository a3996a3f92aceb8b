package lock

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const child = "FAIRLEAD_LOCK_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(child); name != "" {
		_, err := Acquire(name, "the child")
		if err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("acquired\n")
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process acquires a lock in another process and returns its output.
func process(t *testing.T, name string) (cmd *exec.Cmd, output string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), child+"="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s := bufio.NewScanner(out)
	s.Scan()
	return cmd, s.Text()
}

func TestLockNamesItsHolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "not", "there", "x.lock")
	l, err := Acquire(name, "the test")
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Acquire(name, "again"); !errors.As(err, &held) || held.Holder != "the test" {
		t.Errorf("the same program: %v", err)
	}
	if _, output := process(t, name); output != "the test holds the lock" {
		t.Errorf("another program: %s", output)
	}
	l.Release()
	cmd, output := process(t, name)
	if output != "acquired" {
		t.Fatalf("got %v, want %q", output, "acquired")
	}
	if _, err := Acquire(name, "the test"); !errors.As(err, &held) || held.Holder != "the child" {
		t.Errorf("while the other one holds it: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	l, err = Acquire(name, "the test")
	if err != nil {
		t.Fatalf("after the other one was killed: %v", err)
	}
	l.Release()
}
