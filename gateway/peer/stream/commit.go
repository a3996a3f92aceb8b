package stream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// complete compares the checksums and gives the file its name.
func (r *Receiver) complete(ctx context.Context, index uint32, sum []byte) error {
	e := r.announced[index]
	in := r.current
	if e == nil {
		return nil
	}
	if in == nil || in.index != index {
		return protocolError("the end of another file")
	}
	delete(r.announced, index)
	r.current = nil
	if in.offset != in.size || !bytes.Equal(in.hasher.h.Sum(nil), sum) {
		in.close(r, true)
		r.failEntry(&e.entry, errors.New("its checksum does not match: it changed on the way"))
		return nil
	}
	if in.match {
		if r.result.Top == e.name {
			r.result.Top = in.name
		}
		r.countExisting(&in.entry)
		return nil
	}
	if err := r.commit(ctx, in, sum); err != nil {
		in.close(r, false)
		if isFatal(err) {
			return err
		}
		r.failEntry(&e.entry, err)
	}
	return nil
}

// countExisting counts an existing file with the same content.
func (r *Receiver) countExisting(e *entry) {
	r.recordName(e.name)
	r.result.Skipped++
	r.result.Files++
	r.result.Bytes += e.size
}

// commit gives a complete file its mode, time and name. The rename is atomic: others see either the
// old file or the new one.
func (r *Receiver) commit(ctx context.Context, in *receivingFile, sum []byte) error {
	e := &in.entry
	if in.size <= smallFile && r.hasChecksum(e, sum) {
		in.close(r, true)
		r.countExisting(e)
		return nil
	}
	synced := !hasSyncAll || in.size > 16<<20
	settle := func() error {
		err := in.writer.close(true)
		if err == nil && in.holes {
			err = in.f.Truncate(in.size) // the file may end with a hole
		}
		if err == nil && runtime.GOOS != "windows" {
			err = in.f.Chmod(e.mode.Perm() &^ forbiddenBits)
		}
		if err == nil && synced {
			err = in.f.Sync()
		}
		return errors.Join(err, in.f.Close())
	}
	var err error
	if synced {
		err = r.withKeepAlive(ctx, settle)
	} else {
		err = settle()
	}
	if in.f = nil; err != nil {
		r.truncateUnsynced(in)
		return errNotSaved(err)
	}
	root, base := r.at(in.part)
	if err := root.Chtimes(base, time.Time{}, time.Unix(0, e.mtime)); err != nil {
		return withoutPath(err)
	}
	name, skipped, err := r.name(ctx, in)
	if err != nil {
		return err
	}
	if r.result.Top == e.name {
		r.result.Top = name
	}
	if skipped {
		r.remove(in.part)
		r.result.Skipped++
	} else {
		r.result.New++
		r.result.Written += in.size
		r.recordPlaced(in, name, synced)
		r.recordName(name)
	}
	r.result.Files++
	r.result.Bytes += in.size
	return nil
}

// hasChecksum reports whether a small file with this checksum exists under the name.
func (r *Receiver) hasChecksum(e *entry, sum []byte) bool {
	f, info := r.regular(e.name)
	if f == nil {
		return false
	}
	defer f.Close()
	if info.Size() != e.size {
		return false
	}
	h := sha256.New()
	_, err := io.Copy(h, f)
	return err == nil && bytes.Equal(h.Sum(nil), sum)
}

// name renames the part file to its name, or to another one if the name is taken.
func (r *Receiver) name(ctx context.Context, in *receivingFile) (name string, skipped bool, err error) {
	name = in.entry.name
	conflict := r.Conflict
	if r.nameClashes(name) {
		conflict = protocol.ConflictRename
	}
	if conflict == protocol.ConflictOverwrite {
		if info, err := r.lstat(name); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
			return name, false, errors.New("something that is not a regular file already has this name")
		}
		back := r.retainReplaced(replacedFile{Name: name, Size: in.size, Mtime: in.mtime})
		if err := r.rename(in.part, name); err != nil {
			back()
			return name, false, withoutPath(err)
		}
		return name, false, nil
	}
	for n := 2; ; n++ {
		err = r.renameExclusive(in.part, name)
		switch {
		case !errors.Is(err, fs.ErrExist):
			return name, false, withoutPath(err)
		case conflict == protocol.ConflictSkip:
			return name, true, nil
		case n > 999:
			return name, false, errors.New("1,000 files with this name already exist")
		}
		same := false
		r.withKeepAlive(ctx, func() error {
			same = r.sameContent(name, in.part)
			return nil
		})
		if same {
			return name, true, nil
		}
		name = path.Join(path.Dir(in.entry.name), Numbered(path.Base(in.entry.name), n))
	}
}

// nameClashes reports whether a name belongs to another file of this transfer: some file systems
// treat two names as equal that differ in case or Unicode normalization. If the folder has both,
// the file system distinguishes them.
func (r *Receiver) nameClashes(name string) bool {
	if other, like := r.names[foldedHash(name)]; !like || other == nameHash(name) {
		return false
	}
	root, base := r.at(name)
	if _, err := root.Lstat(base); err != nil {
		return false
	}
	dir, err := root.Open(".")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return err != nil || !slices.Contains(names, base)
}

// sameContent reports whether two files have the same content, because an earlier attempt may have
// completed the file.
func (r *Receiver) sameContent(a, b string) bool {
	fa, ia := r.regular(a)
	if fa == nil {
		return false
	}
	defer fa.Close()
	fb, ib := r.regular(b)
	if fb == nil {
		return false
	}
	defer fb.Close()
	if ia.Size() != ib.Size() {
		return false
	}
	ha, hb := sha256.New(), sha256.New()
	if _, err := io.Copy(ha, fa); err != nil {
		return false
	}
	if _, err := io.Copy(hb, fb); err != nil {
		return false
	}
	return bytes.Equal(ha.Sum(nil), hb.Sum(nil))
}
