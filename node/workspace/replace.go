package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
)

// Replacement is the new content of a file while it is being written, beside the old file, which
// stays as it is until Commit. It belongs to one goroutine at a time. A replacement that is neither
// committed nor aborted, because of a crash, is removed by a later write in the folder.
type Replacement struct {
	dir    *os.Root
	abs    string
	notify func(path string) (done func())
	expect string
	temp   *temp
	file   *os.File // nil after the end
	sum    hash.Hash
	size   int64
}

// Replace begins to replace a file, or to create it with its folders (else a *DirError). If expect
// is not empty and the file's hash differs at the end, nothing is replaced. The caller must call
// Commit or Abort.
func (r *Root) Replace(p Path, expect string) (*Replacement, error) {
	real, err := r.paths.writable(p)
	if errors.Is(err, syscall.ENOTDIR) {
		err = &DirError{err}
	}
	if err != nil {
		return nil, err
	}
	perm := fs.FileMode(0o600) // nobody can read it before it has the old file's mode
	info, err := r.paths.fs.Lstat(real)
	switch {
	case err == nil:
		err = checkRegular(info.Mode())
	case errors.Is(err, fs.ErrNotExist):
		if expect != "" && expect != Absent {
			return nil, ErrChanged
		}
		if err := r.paths.fs.MkdirAll(filepath.Dir(real), 0o777); err != nil {
			return nil, newDirError(err)
		}
		perm, err = 0o666, nil
	}
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	// From here on the folder is open: the new file, the one it replaces and the check in between
	// are in the same folder.
	dir, err := r.paths.fs.OpenRoot(filepath.Dir(real), filepath.Base(real))
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	sweep(dir, filepath.Dir(real))
	old, err := replaceable(dir, filepath.Base(real))
	if old != nil {
		old.Close()
	}
	w := &Replacement{dir: dir, abs: real, notify: r.changing, expect: expect, sum: sha256.New()}
	if err == nil {
		w.temp, w.file, err = newTemp(dir, perm)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return w, nil
}

// Write appends to the new content.
func (w *Replacement) Write(data []byte) (int, error) {
	n, err := w.file.Write(data)
	w.sum.Write(data[:n])
	w.size += int64(n)
	return n, format.WithoutPath(err)
}

// Restrict takes permissions beyond most from a file that did not exist before.
func (w *Replacement) Restrict(most fs.FileMode) error {
	info, err := w.file.Stat()
	if err == nil {
		err = w.file.Chmod(info.Mode().Perm() & most)
	}
	return format.WithoutPath(err)
}

// Size returns the number of bytes written so far, and Sum their SHA-256 in hex.
func (w *Replacement) Size() int64 { return w.size }
func (w *Replacement) Sum() string { return hex.EncodeToString(w.sum.Sum(nil)) }

// Path returns the path of the file that Commit replaces, without symbolic links.
func (w *Replacement) Path() string { return w.abs }

// Expect makes Commit fail with ErrChanged if the hash of the old file differs.
func (w *Replacement) Expect(sum string) { w.expect = sum }

// Content returns a reader of what was written so far.
func (w *Replacement) Content() io.Reader { return io.NewSectionReader(w.file, 0, w.size) }

// Verify fails with ErrChanged if another program has changed what was written so far.
func (w *Replacement) Verify() error {
	sum := sha256.New()
	if _, err := io.Copy(sum, w.Content()); err != nil {
		return format.WithoutPath(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != w.Sum() {
		return ErrChanged
	}
	return nil
}

// Touch marks the new content as in use, which a crash would have left otherwise.
func (w *Replacement) Touch() error {
	now := time.Now()
	return format.WithoutPath(w.dir.Chtimes(w.temp.name, now, now))
}

// FreeSpace returns the free space in bytes beside the new content; -1 if unknown.
func (w *Replacement) FreeSpace() int64 { return stream.FreeSpace(w.dir) }

// Commit puts the new content in the place of the old file, durably. The file gets the permissions
// perm, or those of the old file if perm is 0. Commit also ends the replacement after an error.
func (w *Replacement) Commit(perm fs.FileMode, backup Backup) (out Written, err error) {
	defer w.Abort()
	name := filepath.Base(w.abs)
	old, err := replaceable(w.dir, name)
	if err != nil {
		return Written{}, err
	}
	if old != nil {
		defer old.Close()
		err = copyMetadata(w.file, old)
	}
	if err == nil && perm != 0 {
		err = w.file.Chmod(perm)
	}
	if err == nil {
		err = w.file.Sync()
	}
	if err = errors.Join(err, w.file.Close()); err != nil {
		return Written{}, format.WithoutPath(err)
	}
	if w.expect != "" {
		if now, err := hashIn(w.dir, name); err != nil {
			return Written{}, err
		} else if now != w.expect {
			return Written{}, ErrChanged
		}
	}
	out = Written{SHA256: w.Sum(), Created: old == nil}
	if backup != nil {
		w.backUp(backup, out)
	}
	if old != nil {
		out.OtherNames = max(links(old)-1, 0)
		old.Close() // Windows does not replace an open file
	}
	defer change(w.notify, w.abs)()
	if err := w.temp.rename(name); err != nil {
		return Written{}, err
	}
	return out, syncDir(w.dir)
}

// backUp passes the old and the new content to backup.
func (w *Replacement) backUp(backup Backup, out Written) {
	now, _, err := openRegular(w.dir, w.temp.name)
	if err != nil {
		return
	}
	defer now.Close()
	if out.Created {
		backup(w.abs, nil, now, out.SHA256)
		return
	}
	// A file that is writable but not readable cannot be saved.
	if f, _, err := openRegular(w.dir, filepath.Base(w.abs)); err == nil {
		defer f.Close()
		backup(w.abs, f, now, out.SHA256)
	}
}

// Abort removes the new content. It does nothing after Commit.
func (w *Replacement) Abort() {
	if w.file == nil {
		return
	}
	w.file.Close()
	w.file = nil
	w.temp.remove()
	w.dir.Close()
}
