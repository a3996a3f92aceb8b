package workspace

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/format"
)

type dirHandle int

func (h dirHandle) Close() { unix.Close(int(h)) }

func openDir(t fileSystem, name, abs string) (*Dir, error) {
	f, err := t.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|nonblock, 0)
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	fd, err := duplicate(f)
	if err != nil {
		return nil, err
	}
	cachedListings.begin()
	d := &Dir{Abs: abs, handle: dirHandle(fd)}
	if v, ok := t.(tempView); ok {
		if _, ok := v.relative(name); ok {
			d.addSystem(openDir(v.fileSystem, name, abs))
		}
	}
	return d, nil
}

// duplicate returns another descriptor of the open file f, which it closes.
func duplicate(f *os.File) (fd int, err error) {
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	if rawErr := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); rawErr != nil {
		return -1, rawErr
	}
	return fd, err
}

var listings = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// Each calls f with every entry of the directory, in no order, until f returns false. It may be
// called once, by one goroutine. Entries that are added or removed meanwhile may be included or
// not.
func (d *Dir) Each(f func(Entry) bool) error {
	if d.system != nil {
		return d.eachOfBoth(f)
	}
	return d.list(f)
}

func (d *Dir) list(f func(Entry) bool) error {
	cached, known, cacheable := cachedListings.get(d.fd())
	if known {
		d.entries(cached.entries, f)
		return nil
	}
	buf := listings.Get().(*[]byte)
	defer listings.Put(buf)
	var all []string
	size := 0
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd(), *buf) })
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		part := string((*buf)[:n])
		if size += n; size > maxListing {
			cacheable, all = false, nil
		}
		if cacheable {
			all = append(all, part)
		}
		if !d.entries(part, f) {
			return nil
		}
	}
	if cacheable {
		cached.entries = strings.Join(all, "")
		cachedListings.put(cached)
	}
	return nil
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
	if kind != unix.DT_UNKNOWN {
		return fileType(uint32(kind) << 12)
	}
	info, err := d.Info(name) // some file systems do not report the type
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode.Type()
}

// fileType converts the type in a mode of the kernel.
func fileType(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	}
	return fs.ModeDevice
}

// Sub opens a directory in d that is not a symbolic link.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := checkEntryName(name); err != nil {
		return nil, err
	}
	own := d.holding(name)
	fd, err := own.open(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	sub := &Dir{Abs: childPath(d.Abs, name), handle: dirHandle(fd)}
	if own.system != nil {
		sub.addSystem(own.system.Sub(name))
	}
	return sub, nil
}

// Open opens a regular file in d that is not a symbolic link. It does not block: pipes and devices
// are refused.
func (d *Dir) Open(name string) (Content, error) {
	if err := checkEntryName(name); err != nil {
		return Content{}, err
	}
	fd, err := d.holding(name).open(name, unix.O_NONBLOCK|unix.O_NOCTTY)
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
	return retry(func() (int, error) {
		return unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_LARGEFILE|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
	})
}

func (d *Dir) fd() int { return int(d.handle) }

// Info returns information about an entry of d; of a link itself, not of its target.
func (d *Dir) Info(name string) (Info, error) {
	if err := checkEntryName(name); err != nil {
		return Info{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(d.holding(name).fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, err
	}
	mode := fileType(st.Mode) | fs.FileMode(st.Mode&0o777)
	return Info{Name: name, Mode: mode, Size: st.Size, Time: time.Unix(st.Mtim.Unix()), Inode: st.Ino}, nil
}

// SameDir reports whether two handles belong to the same directory.
func SameDir(a, b *Dir) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a.fd(), &x) == nil && unix.Fstat(b.fd(), &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
