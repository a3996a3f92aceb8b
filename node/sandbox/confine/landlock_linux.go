package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights below a path.
const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	list     = unix.LANDLOCK_ACCESS_FS_READ_DIR
	// device is what a character device that is no disk is good for.
	device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// ofFile are the rights that make sense on what is no directory; the kernel refuses others there.
	ofFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	full = readFile | list | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// handled are the rights that the kernel of each ABI knows; index 0 is ABI 1. A right that is handled and not granted is denied.
func handled(abi int) uint64 {
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

// ABI is the kernel's version of Landlock, 0 where there is none. It asks the kernel: the list of security modules is not readable everywhere.
func ABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Files says what may be reached; all paths absolute.
type Files struct {
	// Hidden may not be read or written, unless they are granted below by name.
	Hidden []string
	// Read are readable and Write writable, even when they lie in a hidden folder. What is hidden below them stays so.
	Read, Write []string
	// Devices are character devices that may be read and written.
	Devices []string
	// NoTCP denies TCP too, where the kernel can (ABI 4).
	NoTCP bool
}

// Ruleset is a set of rules that threads can be bound by. Everything but Hidden may be read, names and metadata of everything are visible.
type Ruleset struct {
	fd   int
	seen []mark
}

// mark is a folder whose entries were looked at, or a root, as it was then.
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

// NewRuleset builds a ruleset. It fails where the kernel has no Landlock.
func NewRuleset(f Files) (*Ruleset, error) {
	abi := ABI()
	if abi == 0 {
		return nil, errors.New("the kernel has no Landlock")
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(abi)}
	if abi >= 4 && f.NoTCP {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("create a Landlock ruleset: %w", errno)
	}
	b := builder{fd: int(fd), handled: attr.Handled_access_fs, hidden: map[string]bool{}, above: map[string]bool{}}
	var r Resolver
	for _, h := range f.Hidden {
		if h, _ = r.Resolve(filepath.Clean(h)); h != "/" {
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
	return &Ruleset{fd: b.fd, seen: b.seen}, nil
}

// Fresh reports whether a new ruleset of the same Files would be the same.
func (r *Ruleset) Fresh() bool {
	for _, m := range r.seen {
		now := look(m.path)
		if !m.same(now) || m.stat.Mode&unix.S_IFMT == unix.S_IFDIR && m.stat.Mtim != now.stat.Mtim {
			return false
		}
	}
	return true
}

// Close lets go of the ruleset; threads bound by it stay so.
func (r *Ruleset) Close() { unix.Close(r.fd) }

type builder struct {
	fd      int
	handled uint64
	hidden  map[string]bool
	above   map[string]bool // the folders that something hidden lies in
	seen    []mark
	err     error
}

// hide notes a path that is not allowed. What is not there yet is hidden when it comes, as its
// folder is allowed entry by entry.
func (b *builder) hide(path string) {
	b.hidden[path] = true
	for dir := filepath.Dir(path); !b.above[dir]; dir = filepath.Dir(dir) {
		b.above[dir] = true
	}
}

// root grants a folder that was named by someone, following links to it.
func (b *builder) root(path string, rights uint64) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		b.seen = append(b.seen, look(path))
		return // nothing to grant
	}
	b.allow(real, rights)
}

// allow grants rights below path, but for what is hidden there: Landlock can only allow, so a folder with something hidden in it is allowed
// entry by entry, and nothing can be made directly in it.
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
		return // a folder that we cannot list is not granted
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
		return // gone meanwhile, or not ours to reach
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
	// EBADFD is a pseudo file system that no rule can name and that is not restricted.
	if errno != 0 && errno != unix.EBADFD && b.err == nil {
		b.err = fmt.Errorf("allow %s: %w", path, errno)
	}
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
