package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
	"fairlead/node/workspace"
)

// View is a command's own view of the file system, a mount name space in which some paths are
// read-only or hidden. Unlike Landlock, it can make exceptions in a writable folder.
type View struct {
	// ReadOnly cannot be changed, replaced or moved in the folders of Writable, and the folders
	// above them cannot be moved away.
	ReadOnly, Writable []string
	// Hidden are replaced by BlankFile or BlankFolder.
	Hidden                 []string
	BlankFile, BlankFolder string
	// Replaced are files that are replaced by others.
	Replaced map[string]string
	// Temp is the command's folder for temporary files; nil: the system's.
	Temp *Temp
	// OwnMemory and OwnTerminals give the command shared memory and pseudo terminals that no other
	// program can see. Terminal, if it has one of the system, stays at its path; else it is empty.
	OwnMemory, OwnTerminals bool
	Terminal                string
}

// CanIsolate reports whether this process can give threads a view of their own. It needs
// CAP_SYS_ADMIN in its user name space, and mount_setattr (Linux 5.12).
func CanIsolate() bool {
	return <-crash.Result(func() error {
		runtime.LockOSThread() // the thread ends with its goroutine
		own, err := View{ReadOnly: []string{os.DevNull}}.Enter()
		own.Close()
		return err
	}) == nil
}

// Enter gives the calling thread the view, and returns what exists in it only: a [Ruleset] must grant
// that, and the caller closes it, also after an error. The conditions of [Thread] apply, which must
// be called afterwards: it takes away the means to change the view again.
func (v View) Enter() (own Own, err error) {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return own, fmt.Errorf("creating a mount name space: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return own, fmt.Errorf("separating the mount name space: %w", err)
	}
	for file, other := range v.Replaced {
		if err := attach(other, file, true); err != nil {
			return own, err
		}
	}
	if own, err = v.enterTemp(); err != nil {
		return own, err
	}
	for _, m := range v.mounts() {
		if err := attach(m.source, m.path, m.readOnly); err != nil {
			return own, err
		}
	}
	return own, nil
}

type mount struct {
	source, path string
	readOnly     bool
}

// mounts returns what to mount, outer paths first.
func (v View) mounts() (list []mount) {
	pinned := map[string]bool{}
	for _, p := range v.paths(v.ReadOnly) {
		for dir := range v.above(p) {
			pinned[dir] = true
		}
		list = append(list, mount{p, p, true})
	}
	for _, p := range v.paths(v.Hidden) {
		for dir := range v.above(p) {
			pinned[dir] = true
		}
		list = append(list, mount{v.blank(p), p, true})
	}
	for dir := range pinned {
		list = append(list, mount{dir, dir, false})
	}
	// A path that is hidden and read-only is hidden, so that comes second.
	slices.SortStableFunc(list, func(a, b mount) int { return strings.Count(a.path, "/") - strings.Count(b.path, "/") })
	return list
}

// paths adds the targets of symbolic links.
func (v View) paths(list []string) (all []string) {
	for _, p := range list {
		all = append(all, p)
		if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
			all = append(all, real)
		}
	}
	return all
}

// above yields the folders that contain a path and lie in a writable folder: moving one would move
// the path away from its mount.
func (v View) above(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			movable := slices.ContainsFunc(v.Writable, func(w string) bool { return dir != w && workspace.InFolder(dir, w) })
			if !movable || !yield(dir) {
				return
			}
		}
	}
}

// attach mounts source on path, and ignores a missing path. A symbolic link is not followed where
// the kernel can mount on links, so that the link itself cannot be replaced.
func attach(source, path string, readOnly bool) error {
	fail := func(err error) error {
		info, now := os.Lstat(path)
		if errors.Is(now, os.ErrNotExist) || now == nil && info.Mode()&os.ModeSymlink != 0 {
			return nil
		}
		return fmt.Errorf("protecting %s: %w", path, err)
	}
	fd, err := openTree(source, readOnly)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(fd)
	if err := moveMount(fd, path); err != nil {
		return fail(err)
	}
	return nil
}
