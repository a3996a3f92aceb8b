package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fairlead/node/workspace"
)

// TempDir is the folder of the system for temporary files, which many programs name.
const TempDir = "/tmp"

// Temp takes the place of TempDir in the view of a command.
type Temp struct {
	// Dir is mounted on TempDir. It has an entry for each of Kept.
	Dir string
	// System is an empty folder outside of TempDir on which the real one is mounted read-only, for
	// what was there before.
	System string
	// Kept are files and folders in TempDir that stay where they are. None lies in another.
	Kept []string
}

// maxMirrored is the number of entries of the system's folder that commands see.
const maxMirrored = 4096

// Mirror makes links in Dir, which root is, to what is in the system's folder, and removes those
// to what is no longer there. Commands can change what is in Dir, but not outside of it by any
// link that they made, because everything is done by root.
func (t Temp) Mirror(root *os.Root) error {
	left := maxMirrored
	return t.mirror(root, ".", &left)
}

func (t Temp) mirror(root *os.Root, rel string, left *int) error {
	entries, err := os.ReadDir(filepath.Join(TempDir, rel))
	if err != nil {
		return nil // commands cannot list it either
	}
	dir, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	stale := make(map[string]bool, len(names))
	for _, name := range names {
		stale[name] = true
	}
	for _, e := range entries {
		at, path := filepath.Join(rel, e.Name()), filepath.Join(TempDir, rel, e.Name())
		isThere := stale[e.Name()]
		delete(stale, e.Name())
		if *left--; *left < 0 && !t.isAbove(path) {
			continue
		}
		if err := t.mirrorEntry(root, at, path, e, isThere, left); err != nil {
			return err
		}
	}
	for name := range stale {
		at := filepath.Join(rel, name)
		if target, err := root.Readlink(at); err == nil && target == filepath.Join(t.System, at) {
			root.Remove(at) // the next command tries again
		}
	}
	return nil
}

func (t Temp) mirrorEntry(root *os.Root, at, path string, e os.DirEntry, isThere bool, left *int) error {
	switch isKept := slices.Contains(t.Kept, path); {
	case isKept && isThere:
		return nil
	case isKept && !e.IsDir():
		return root.WriteFile(at, nil, 0o600)
	case isKept || t.isAbove(path) && !isThere:
		if err := root.Mkdir(at, 0o700); err != nil || isKept {
			return err
		}
	case t.isAbove(path):
	case isThere || !hasContent(path, e):
		return nil
	default:
		root.Symlink(filepath.Join(t.System, at), at) // without it, the command does not see the entry
		return nil
	}
	return t.mirror(root, at, left)
}

// hasContent reports whether an entry has something that commands could read. Folders of sockets
// have not, and a program that has one in the system's folder, such as tmux, needs another for its
// commands.
func hasContent(path string, e os.DirEntry) bool {
	if !e.IsDir() {
		return e.Type()&os.ModeSocket == 0
	}
	entries, err := os.ReadDir(path)
	if len(entries) == 0 { // a command may start in it
		return !strings.HasPrefix(e.Name(), "tmux-")
	}
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Type()&os.ModeSocket == 0 })
}

// isAbove reports whether something in a folder is kept.
func (t Temp) isAbove(path string) bool {
	return slices.ContainsFunc(t.Kept, func(k string) bool { return k != path && workspace.InFolder(k, path) })
}

// mount makes the folder the one for temporary files. Nothing can be written where the real one is
// mounted, and Kept cannot be read there, where nothing would protect a part of it.
func (t Temp) mount(blank func(string) string) error {
	kept := make([]int, len(t.Kept))
	for i, path := range t.Kept {
		fd, err := openTree(path, false)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		kept[i] = fd
	}
	if err := attach(TempDir, t.System, true); err != nil {
		return err
	}
	for _, path := range t.Kept {
		at := t.System + strings.TrimPrefix(path, TempDir)
		if err := attach(blank(at), at, true); err != nil {
			return err
		}
	}
	if err := attach(t.Dir, TempDir, false); err != nil {
		return err
	}
	for i, path := range t.Kept {
		// The folders above must stay where they are, for commands with the same view.
		top, below, _ := strings.Cut(strings.TrimPrefix(path, TempDir+"/"), "/")
		if top = filepath.Join(TempDir, top); below != "" && !slices.ContainsFunc(t.Kept[:i], func(k string) bool { return workspace.InFolder(k, top) }) {
			if err := attach(top, top, true); err != nil {
				return err
			}
		}
		if err := moveMount(kept[i], path); err != nil {
			return err
		}
	}
	return nil
}

// Own is what a command has for itself.
type Own struct {
	folders []string // those that exist in its view only
	// terminal, of the new instance, has the number of the command's terminal of the system, so that
	// there is a place for that one. It stays open while the command runs.
	terminal *os.File
}

// Close releases what a command had, when all of its processes have ended.
func (o Own) Close() {
	if o.terminal != nil {
		o.terminal.Close()
	}
}

// mountOwn gives the command shared memory and terminals of its own, where the kernel permits that.
func (v View) mountOwn() (own Own) {
	const flags = unix.MS_NOSUID
	if v.OwnMemory && unix.Mount("tmpfs", sharedMemory, "tmpfs", flags|unix.MS_NODEV, "size=25%,mode=1777") == nil {
		own.folders = append(own.folders, sharedMemory)
	}
	if !v.OwnTerminals {
		return own
	}
	terminal := -1
	if v.Terminal != "" {
		fd, err := openTree(v.Terminal, false)
		if err != nil {
			return own
		}
		defer unix.Close(fd)
		terminal = fd
	}
	if unix.Mount("devpts", terminals, "devpts", flags|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") != nil {
		return own
	}
	if terminal >= 0 {
		place, err := reserveTerminal(v.Terminal)
		if err == nil {
			own.terminal, err = place, moveMount(terminal, v.Terminal)
		}
		if err != nil { // the command needs its terminal more than further ones
			own.Close()
			unix.Unmount(terminals, unix.MNT_DETACH)
			return Own{folders: own.folders}
		}
	}
	own.folders = append(own.folders, terminals)
	return own
}

// maxTerminal is the highest number of a terminal for which a place is made in a new instance, which
// takes opening all below it.
const maxTerminal = 256

// reserveTerminal opens a new terminal at path, which is a number in the folder of terminals.
func reserveTerminal(path string) (*os.File, error) {
	number, err := strconv.Atoi(strings.TrimPrefix(path, terminals+"/"))
	if err != nil || number > maxTerminal {
		return nil, fmt.Errorf("%s cannot be shown beside other terminals", path)
	}
	for range number + 1 {
		f, err := os.OpenFile(terminals+"/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return nil, err
		}
		if got, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPTN); err == nil && got == number {
			return f, nil
		}
		defer f.Close()
	}
	return nil, fmt.Errorf("%s is in use", path)
}

// sharedMemory is the folder of shm_open(3) and sem_open(3), terminals that of pts(4).
const sharedMemory, terminals = "/dev/shm", "/dev/pts"

// openTree returns a copy of a mount from path on.
func openTree(path string, readOnly bool) (fd int, err error) {
	const whole = unix.AT_RECURSIVE | unix.AT_SYMLINK_NOFOLLOW
	if fd, err = unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|whole); err != nil || !readOnly {
		return fd, err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func moveMount(fd int, path string) error {
	return unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// blank returns what hides a path.
func (v View) blank(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return v.BlankFolder
	}
	return v.BlankFile
}

// enterTemp mounts what the command has for itself.
func (v View) enterTemp() (Own, error) {
	if v.Temp != nil {
		if err := v.Temp.mount(v.blank); err != nil {
			return Own{}, fmt.Errorf("mounting a private %s: %w", TempDir, err)
		}
	}
	return v.mountOwn(), nil
}

// maxGranted is the number of folders of views that a ruleset gets. They no longer exist when their
// command has ended, but the ruleset grows.
const maxGranted = 128

// Grant allows everything in the folders that exist only in the view of the calling thread. Other
// users of the ruleset cannot reach them.
func (r *Ruleset) Grant(own Own) error {
	b := builder{fd: r.fd, handled: r.handled}
	for _, dir := range own.folders {
		b.add(dir, full|device, false)
	}
	r.granted += len(own.folders)
	return b.err
}
