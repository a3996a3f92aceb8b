package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
)

// Dir is an open directory: its entries are opened relative to its handle, and never through a
// symbolic link that leads outside; on Linux through none at all. So renaming cannot lead elsewhere.
// It is safe for use by many goroutines.
type Dir struct {
	Abs    string // its path without symbolic links when it was opened
	handle dirHandle
	// system is the folder of the system whose entries are added to those of a private one (see
	// [Config.PrivateTemp]); else nil.
	system *Dir
}

// Entry is one entry of a directory.
type Entry struct {
	Name string
	// Type has the type bits only; links are not followed.
	Type fs.FileMode
}

// IsDir reports whether it is a directory, not a link to one.
func (e Entry) IsDir() bool { return e.Type.IsDir() }

// IsLink reports whether it is a symbolic link.
func (e Entry) IsLink() bool { return e.Type&fs.ModeSymlink != 0 }

// Info describes one entry of a directory.
type Info struct {
	Name string
	Mode fs.FileMode // includes the type; of a link itself, not of its target
	Size int64
	Time time.Time // modification time of the content
	// Inode distinguishes a file from another one that replaces it; 0 on Windows.
	Inode uint64
}

// checkEntryName returns an error for a name that is not that of a single entry of a directory.
func checkEntryName(name string) error {
	if name == "" || name == "." || name == ".." {
		return fs.ErrInvalid
	}
	for i := range len(name) {
		if name[i] == 0 || os.IsPathSeparator(name[i]) {
			return fs.ErrInvalid
		}
	}
	return nil
}

func childPath(dir, name string) string { return strings.TrimSuffix(dir, separator) + separator + name }

// OpenDir opens a directory. The caller closes it.
func (r *Root) OpenDir(p Path) (*Dir, error) {
	real, err := r.paths.follow(p)
	if err != nil {
		return nil, err
	}
	return openDir(r.paths.fs, real.Abs, real.Abs)
}

// Close closes the directory. Files that were opened in it stay open.
func (d *Dir) Close() {
	d.handle.Close()
	if d.system != nil {
		d.system.Close()
	}
}

// Infos calls f with every entry of the directory and its description, in no order, until f returns
// false. Entries that vanish meanwhile are left out, as are temporary files of writes and the
// trash.
func (d *Dir) Infos(f func(Info) bool) error {
	return d.Each(func(e Entry) bool {
		if IsInternal(e.Name) {
			return true
		}
		info, err := d.Info(e.Name)
		return err != nil || f(info)
	})
}

var errPathChanged = errors.New("it changed while it was being opened")

// Target resolves a path: it returns the path without symbolic links, and information about the
// file. A link that leads outside is an *OutsideError.
func (r *Root) Target(p Path) (Path, os.FileInfo, error) {
	real, err := r.paths.follow(p)
	if err != nil {
		return real, nil, err
	}
	info, err := r.paths.fs.Lstat(real.Abs)
	if err != nil {
		return real, nil, format.WithoutPath(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return real, nil, errPathChanged
	}
	return real, info, nil
}

// OpenFolder is an open folder: everything below it is accessed relative to its handle, and nothing
// outside. The caller closes Root.
type OpenFolder struct {
	Root *os.Root
	Abs  string // its path without symbolic links
}

// OpenFolderOf opens a folder, or the folder of a file; name is then the file's name in it, else
// ".". When it is used, the name may belong to another file, but that is in the same folder.
func (r *Root) OpenFolderOf(p Path) (h OpenFolder, name string, err error) {
	real, info, err := r.Target(p)
	if err != nil {
		return h, "", err
	}
	dir, name := real.Abs, "."
	if !info.IsDir() {
		dir, name = filepath.Dir(real.Abs), filepath.Base(real.Abs)
	}
	h, err = r.paths.openFolder(dir, name)
	return h, name, err
}

// OpenFolderForWriting opens a folder that may be written, for an entry to write in it ("." if that
// is not known). If make is set, it creates the folder and those above it (a *DirError when that
// fails).
func (r *Root) OpenFolderForWriting(p Path, entry string, make bool) (OpenFolder, error) {
	real, err := r.paths.writable(p)
	if err != nil {
		return OpenFolder{}, err
	}
	if make {
		if err := r.paths.fs.MkdirAll(real, 0o777); err != nil {
			return OpenFolder{}, newDirError(err)
		}
	}
	return r.paths.openFolder(real, entry)
}

func (r *resolver) openFolder(abs, entry string) (OpenFolder, error) {
	root, err := r.fs.OpenRoot(abs, entry)
	if err != nil {
		return OpenFolder{}, format.WithoutPath(err)
	}
	info, err := root.Stat(".")
	if err == nil && !info.IsDir() {
		err = errNotFolder{}
	}
	if err != nil {
		root.Close()
		return OpenFolder{}, format.WithoutPath(err)
	}
	return OpenFolder{Root: root, Abs: abs}, nil
}
