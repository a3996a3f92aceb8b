package workspace

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Dir is an open directory: its entries are opened relative to its handle and never through a
// symbolic link, so renaming cannot lead elsewhere. It is closed when all holders have released it.
// It is safe for use by many goroutines.
type Dir struct {
	// Abs is its path without symbolic links when it was opened, and Below the same with a trailing
	// separator, in the same memory.
	Abs, Prefix string
	fd          int
	refs        atomic.Int32
}

func openDir(t fileSystem, name, abs string) (*Dir, error) {
	f, err := t.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|nonblock, 0)
	if err != nil {
		return nil, Cause(err)
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if err := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	cachedListings.begin()
	return newDir(abs, fd), nil
}

func newDir(abs string, fd int) *Dir {
	below := strings.TrimSuffix(abs, separator) + separator
	d := &Dir{Abs: below[:len(abs)], Prefix: below, fd: fd}
	d.refs.Store(1)
	return d
}

// Retain adds a holder, who must call Release, too.
func (d *Dir) Retain() { d.refs.Add(1) }

// Release removes a holder; the last one closes the directory.
func (d *Dir) Release() {
	if d.refs.Add(-1) == 0 {
		unix.Close(d.fd)
	}
}

var listings = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// Each calls f with every entry of the directory, in no order, until f returns false. It may be
// called once, by one goroutine. Entries that are added or removed meanwhile may be included or
// not.
func (d *Dir) Each(f func(Entry) bool) error {
	id, now, entries, known, keep := cachedListings.get(d.fd)
	if known {
		d.entries(entries, f)
		return nil
	}
	buf := listings.Get().(*[]byte)
	defer listings.Put(buf)
	var all []string
	size := 0
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd, *buf) })
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		part := string((*buf)[:n])
		if size += n; size > maxListing {
			keep, all = false, nil
		}
		if keep {
			all = append(all, part)
		}
		if !d.entries(part, f) {
			return nil
		}
		if keep && atEnd(part) {
			break
		}
	}
	if keep {
		cachedListings.put(id, now, strings.Join(all, ""))
	}
	return nil
}

// atEnd reports whether nothing follows a part of a listing: its last entry has the position of the
// next one, and ext4, btrfs and tmpfs use a fixed position for the end. Otherwise the system is
// asked again.
func atEnd(part string) bool {
	for len(part) >= 20 {
		size := int(binary.NativeEndian.Uint16([]byte(part[16:18])))
		if size >= len(part) {
			return binary.NativeEndian.Uint64([]byte(part[8:16])) == math.MaxInt64
		}
		if size < 20 {
			break
		}
		part = part[size:]
	}
	return false
}

// entries parses linux_dirent64: inode 8, offset 8, length 2, type 1, name with a terminating zero.
// Names share the memory of list.
func (d *Dir) entries(list string, f func(Entry) bool) bool {
	for len(list) > 19 {
		size := int(binary.NativeEndian.Uint16([]byte{list[16], list[17]}))
		if size < 20 || size > len(list) {
			return true
		}
		name, kind := list[19:size], list[18]
		list = list[size:]
		if end := strings.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if name == "." || name == ".." {
			continue
		}
		if !f(Entry{Name: name, Type: d.kind(name, kind)}) {
			return false
		}
	}
	return true
}

func (d *Dir) kind(name string, kind byte) fs.FileMode {
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_UNKNOWN: // some file systems do not report the type
		var st unix.Stat_t
		if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				return 0
			case unix.S_IFDIR:
				return fs.ModeDir
			case unix.S_IFLNK:
				return fs.ModeSymlink
			}
		}
	}
	return fs.ModeIrregular
}

// Sub opens a directory in d that is not a symbolic link.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := checkEntryName(name); err != nil {
		return nil, err
	}
	fd, err := d.open(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	below := d.Prefix + name + separator
	sub := &Dir{Abs: below[:len(below)-1], Prefix: below, fd: fd}
	sub.refs.Store(1)
	return sub, nil
}

// Open opens a regular file in d that is not a symbolic link. It does not block: pipes and devices
// are refused.
func (d *Dir) Open(name string) (Content, error) {
	if err := checkEntryName(name); err != nil {
		return Content{}, err
	}
	fd, err := d.open(name, unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return Content{}, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = checkRegular(fs.ModeIrregular)
	}
	if err != nil {
		unix.Close(fd)
		return Content{}, err
	}
	return Content{Size: st.Size, fd: fd}, nil
}

func (d *Dir) open(name string, flags int) (int, error) {
	c, err := cName(name)
	if err != nil {
		return -1, err
	}
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(d.fd), uintptr(unsafe.Pointer(&c)),
			uintptr(unix.O_RDONLY|unix.O_LARGEFILE|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags), 0, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}

// cString is a zero-terminated name. A walk looks up so many names that allocating each on the
// heap, as package unix does, is noticeable.
type cString [256]byte

func cName(name string) (c cString, err error) {
	if len(name) >= len(c) {
		return c, unix.ENAMETOOLONG
	}
	copy(c[:], name)
	return c, nil
}

// plainStat says that this system has no statx, which can return only the time and is a fifth
// faster.
var plainStat atomic.Bool

// ModTime returns the modification time of an entry of d, in nanoseconds since 1970; of a link
// itself, not of its target.
func (d *Dir) ModTime(name string) (int64, error) {
	if !plainStat.Load() {
		var st unix.Statx_t
		c, err := cName(name)
		if err != nil {
			return 0, err
		}
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(d.fd), uintptr(unsafe.Pointer(&c)), unix.AT_SYMLINK_NOFOLLOW, unix.STATX_MTIME,
			uintptr(unsafe.Pointer(&st)), 0)
		switch {
		case errno == 0 && st.Mask&unix.STATX_MTIME != 0:
			return st.Mtime.Sec*int64(time.Second) + int64(st.Mtime.Nsec), nil
		case errno == unix.ENOENT:
			return 0, errno
		}
		plainStat.Store(errno == unix.ENOSYS || errno == unix.EPERM)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, err
	}
	return st.Mtim.Nano(), nil
}

// Info returns information about an entry of d; of a link itself, not of its target.
func (d *Dir) Info(name string) (Info, error) {
	if err := checkEntryName(name); err != nil {
		return Info{}, err
	}
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return Info{}, err
	}
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	default:
		mode |= fs.ModeDevice
	}
	return Info{Name: name, Mode: mode, Size: st.Size, Time: time.Unix(st.Mtim.Unix()), Inode: st.Ino}, nil
}

// SameDir reports whether two handles belong to the same directory.
func SameDir(a, b *Dir) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a.fd, &x) == nil && unix.Fstat(b.fd, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
