package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fairlead/gateway/protocol"
)

// childFull, if set, is a folder on which the test binary, alone in a mount namespace, mounts a
// disk of 1 MiB and fills it.
const childFull = "FAIRLEAD_STORE_TEST_FULL"

func init() {
	if dir := os.Getenv(childFull); dir != "" {
		if err := fill(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

var errMount = errors.New("no mount")

func fill(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Errorf("%w: %w", errMount, err)
	}
	ctx := context.Background()
	path := filepath.Join(dir, "fairlead.db")
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	stored := 0
	for ; err == nil && stored < 2000; stored++ {
		_, err = s.Messages.Append(ctx, key, user(strings.Repeat("x", 2000)))
	}
	stored--
	if !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), "is full") {
		return fmt.Errorf("error = %w", err)
	}
	if _, err := s.Messages.Append(ctx, key, user(strings.Repeat("y", 9000))); !errors.Is(err, protocol.ErrStorage) {
		return fmt.Errorf("second error = %w", err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=8m"); err != nil {
		return fmt.Errorf("%w: %w", errMount, err)
	}
	if _, err := s.Messages.Append(ctx, key, user("after")); err != nil {
		return fmt.Errorf("with space again: %w", err)
	}
	msgs, err := s.Messages.List(ctx, key, 0, 0)
	if err != nil || len(msgs) != stored+1 || msgs[stored].Content.Text() != "after" || msgs[stored].Seq != int64(stored+1) {
		return fmt.Errorf("got %d messages, want %d and one more: %w", len(msgs), stored, err)
	}
	return s.Close()
}

func TestRealFullDiskRecovers(t *testing.T) {
	exe := must(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childFull+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && (len(out) == 0 || strings.HasPrefix(string(out), errMount.Error())) {
		t.Skipf("this system does not let a test mount a disk of its own: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("got error %v, want none: %s", err, out)
	}
}
