package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"fairlead/node/workspace"
	"golang.org/x/sys/unix"
)

// Access rights below a path.
const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	list     = unix.LANDLOCK_ACCESS_FS_READ_DIR
	// device are the useful rights on a character device.
	device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// ofFile are the rights that apply to files; the kernel refuses others on anything but a
	// directory.
	ofFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	full = readFile | list | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// handledRights returns the rights that the kernel of each ABI knows; index 0 is ABI 1. A right
// that is handled and not granted is denied.
func handledRights(abi int) uint64 {
	all := uint64(1)<<13 - 1
	for _, r := range []struct {
		abi   int
		right uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER},
		{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{9, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	} {
		if abi >= r.abi {
			all |= r.right
		}
	}
	return all
}

// ABI returns the kernel's version of Landlock, 0 if it does not have any. It asks the kernel,
// because the list of security modules cannot be read everywhere.
func ABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Files lists the accessible files; all paths are absolute.
type Files struct {
	// Hidden cannot be read or written, unless granted by name in Read or Write.
	Hidden []string
	// Read is readable and Write is writable, even in a hidden folder. Hidden paths below them stay
	// hidden.
	Read, Write []string
	// Devices are character devices that can be read and written.
	Devices []string
	// NoTCP also denies TCP, where the kernel can (ABI 4).
	NoTCP bool
}

// Ruleset is a set of rules by which threads can be restricted. Everything but Hidden can be read;
// names and metadata of everything are visible.
type Ruleset struct {
	fd      int
	handled uint64
	seen    []mark
	granted int // folders of views
}

// mark is the state of a listed folder, or of a root, when the ruleset was built.
type mark struct {
	path  string
	stat  unix.Stat_t
	there bool
}

func look(path string) mark {
	m := mark{path: path}
	m.there = unix.Lstat(path, &m.stat) == nil
	return m
}

func (m mark) same(n mark) bool {
	return m.there == n.there && m.stat.Dev == n.stat.Dev && m.stat.Ino == n.stat.Ino
}

// NewRuleset builds a ruleset. It returns an error if the kernel does not have Landlock.
func NewRuleset(f Files) (*Ruleset, error) {
	abi := ABI()
	if abi == 0 {
		return nil, errors.New("the kernel has no Landlock")
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handledRights(abi)}
	if abi >= 4 && f.NoTCP {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("creating a Landlock ruleset: %w", errno)
	}
	b := builder{fd: int(fd), handled: attr.Handled_access_fs, hidden: map[string]bool{}, above: map[string]bool{}}
	for _, h := range f.Hidden {
		if h = workspace.RealPath(h); h != "/" {
			b.hide(h)
		}
	}
	b.add("/", list, false)
	b.allow("/", readFile)
	for _, p := range f.Read {
		b.root(p, readFile|list)
	}
	for _, p := range f.Write {
		b.root(p, full)
	}
	for _, p := range f.Devices {
		b.add(p, device, true)
	}
	if b.err != nil {
		unix.Close(b.fd)
		return nil, b.err
	}
	return &Ruleset{fd: b.fd, handled: b.handled, seen: b.seen}, nil
}

// Fresh reports whether a new ruleset of the same Files would be the same.
func (r *Ruleset) Fresh() bool {
	if r.granted > maxGranted {
		return false
	}
	for _, m := range r.seen {
		now := look(m.path)
		if !m.same(now) || m.stat.Mode&unix.S_IFMT == unix.S_IFDIR && m.stat.Mtim != now.stat.Mtim {
			return false
		}
	}
	return true
}

// Close releases the ruleset; threads restricted by it stay restricted.
func (r *Ruleset) Close() { unix.Close(r.fd) }

type builder struct {
	fd      int
	handled uint64
	hidden  map[string]bool
	above   map[string]bool // the folders that contain something hidden
	seen    []mark
	err     error
}

// hide records a path that is not allowed. A path that does not exist yet is hidden when it is
// created, because its folder is allowed entry by entry.
func (b *builder) hide(path string) {
	b.hidden[path] = true
	for dir := filepath.Dir(path); !b.above[dir]; dir = filepath.Dir(dir) {
		b.above[dir] = true
	}
}

// root grants a folder that was named in Files, following links to it.
func (b *builder) root(path string, rights uint64) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		b.seen = append(b.seen, look(path))
		return // does not exist: nothing to grant
	}
	b.allow(real, rights)
}

// allow grants rights below path, except for hidden paths. Landlock can only allow, so a folder
// with a hidden entry is allowed entry by entry, and nothing can be created directly in it.
func (b *builder) allow(path string, rights uint64) {
	if !b.above[path] {
		b.add(path, rights, false)
		return
	}
	b.seen = append(b.seen, look(path))
	if path != "/" {
		b.add(path, rights&list, false)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return // a folder that cannot be listed is not granted
	}
	for _, e := range entries {
		child := filepath.Join(path, e.Name())
		if e.Type()&os.ModeSymlink == 0 && !b.hidden[child] {
			b.allow(child, rights)
		}
	}
}

func (b *builder) add(path string, rights uint64, follow bool) {
	flags := unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if follow {
		flags &^= unix.O_NOFOLLOW
	}
	fd, err := unix.Open(path, flags, 0)
	if err != nil {
		return // removed meanwhile, or inaccessible
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & b.handled, Parent_fd: int32(fd)}
	if rule.Allowed_access == 0 {
		return
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(b.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	// EBADFD means a pseudo file system, which rules cannot name and which is not restricted.
	if errno != 0 && errno != unix.EBADFD && b.err == nil {
		b.err = fmt.Errorf("allowing %s: %w", path, errno)
	}
}

// Rules are the restrictions of a thread that are the same for many commands.
type Rules struct {
	// Filter applies the system call filter. NoNet leaves only Unix sockets; NoConnect forbids
	// connections to other processes.
	Filter, NoNet, NoConnect bool
}

// Thread permanently restricts the calling thread and drops its privileges. The caller must have
// locked its goroutine to the thread and must never unlock it, so that the thread ends with the
// goroutine. After an error, nothing may be started from the thread.
func Thread(r Rules) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if r.Filter {
		return seccomp(r.NoNet, r.NoConnect)
	}
	return nil
}

// Bind permanently restricts the calling thread by the ruleset. Thread must be called first; the
// same conditions apply.
func (r *Ruleset) Bind() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("applying the Landlock ruleset: %w", errno)
	}
	return nil
}

// dropCapabilities removes all of root's privileges except those of its user ID: without NOROOT the
// next exec would restore them. Capabilities of files do not count, because no_new_privs is set.
func dropCapabilities() error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&hdr, &have[0]); err != nil {
		return fmt.Errorf("reading the capabilities: %w", err)
	}
	if have == ([2]unix.CapUserData{}) {
		return nil
	}
	if have[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		const noRoot, noRootLocked = 1 << 0, 1 << 1
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
			return fmt.Errorf("giving up root's privileges: %w", err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&hdr, &none[0]); err != nil {
		return fmt.Errorf("dropping the capabilities: %w", err)
	}
	return nil
}
