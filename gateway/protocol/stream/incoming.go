package stream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"time"

	"fairlead/gateway/protocol"
)

// expected is a file that was announced.
type expected struct {
	entry
	// What there is of it: its sums, and whether that is the file under its own name and not a part.
	sum   *ladder
	whole bool
}

// incoming is a file that is being written.
type incoming struct {
	entry
	part   string // its name until it is complete
	f      *os.File
	sum    *ladder
	at     int64
	holes  bool
	behind int64 // up to where the disk was set to work
	match  bool  // it is the file that is there under its own name
}

// markOf begins the names of all unfinished files of a transfer, and of no other one.
func markOf(id protocol.TransferID) string {
	h := sha256.Sum256([]byte(id))
	return partPrefix + hex.EncodeToString(h[:8]) + "-"
}

// partName is what an unfinished file is called: the same in every attempt of a transfer.
func (r *Receiver) partName(name string) string {
	h := sha256.Sum256([]byte(string(r.Transfer) + "\x00" + name))
	return path.Join(path.Dir(name), markOf(r.Transfer)+hex.EncodeToString(h[:8])+partSuffix)
}

// decide says what there is of a large file already: a file of the same size under its name, which may be the same, or a part of an earlier attempt.
func (r *Receiver) decide(ctx context.Context, x *expected) error {
	v := verdict{index: x.index}
	f, size := r.candidate(x)
	if f == nil {
		return r.say(ctx, recVerdict, v.encode())
	}
	defer f.Close()
	x.sum = newLadder(true)
	var said error
	err := x.sum.climb(ctx, f, size, func() {
		if said == nil {
			said = r.alive(ctx)
		}
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case said != nil:
		return said
	case err == nil:
		v.have, v.sums = size, x.sum.sums
		if x.whole { // all of it or nothing
			for i := range v.sums[:len(v.sums)-1] {
				v.sums[i] = make([]byte, sumSize)
			}
		}
	}
	return r.say(ctx, recVerdict, v.encode())
}

func (r *Receiver) candidate(x *expected) (f *os.File, size int64) {
	if f, info := r.regular(x.name); f != nil {
		if info.Size() == x.size {
			x.whole = true
			return f, x.size
		}
		f.Close()
	}
	if f, info := r.regular(r.partName(x.name)); f != nil {
		if info.Size() > 0 {
			return f, min(info.Size(), x.size)
		}
		f.Close()
	}
	return nil, 0
}

func (r *Receiver) regular(name string) (*os.File, os.FileInfo) {
	info, err := r.lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	root, base := r.at(name)
	f, info, err := openRegular(root, base)
	if err != nil {
		return nil, nil
	}
	return f, info
}

// begin opens the file whose data follows.
func (r *Receiver) begin(index uint32, offset int64) error {
	if r.file != nil {
		if r.file.index != index || offset != 0 {
			return broken("a file begins in another one")
		}
		r.file.close(r, true) // it changed at the source, and is sent anew
		r.file = nil
	}
	e := r.coming[index]
	if e == nil {
		return nil // it was not wanted, or failed: what follows is for nobody
	}
	f, err := r.open(e, offset)
	if err != nil {
		if fatal(err) {
			return err
		}
		delete(r.coming, index)
		r.fail(&e.entry, err)
		return nil
	}
	if r.file = f; f.size > eager {
		r.told = time.Time{} // the gateway is to know what would be left if it ended here
	}
	return nil
}

func (r *Receiver) open(x *expected, offset int64) (*incoming, error) {
	in := &incoming{entry: x.entry, part: r.partName(x.name), sum: newLadder(false), at: offset, behind: offset}
	if offset > 0 {
		if x.sum == nil || x.whole && offset != x.size || !x.sum.back(offset) {
			return nil, broken("a file begins where nobody said")
		}
		in.sum = x.sum
		if in.match = x.whole; in.match {
			return in, nil
		}
	}
	if dir := path.Dir(in.part); r.Note != nil && !r.noted[dir] {
		r.noted[dir] = true
		r.Note(dir)
	}
	var err error
	in.f, err = r.openFile(in.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // of an earlier attempt
		if info, err := r.lstat(in.part); err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no file", in.part)
		}
		if in.f, err = r.openFile(in.part, os.O_WRONLY, 0); err == nil {
			err = in.f.Truncate(offset)
		}
		if info, statErr := in.f.Stat(); err == nil && (statErr != nil || info.Size() != offset) {
			err = errors.New("what was there of it is gone")
		}
	} else if err == nil && offset > 0 {
		in.f.Close()
		r.remove(in.part)
		return nil, errors.New("what was there of it is gone")
	}
	if in.f == nil {
		return nil, fmt.Errorf("Failed to create file %s: %w", x.name, reason(err)) //lint:ignore ST1005 the original's text
	}
	if err == nil && offset > 0 {
		_, err = in.f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		in.close(r, false)
		return nil, reason(err)
	}
	return in, nil
}

func (in *incoming) write(p []byte) error {
	if int64(len(p)) > in.size-in.at || in.match && len(p) > 0 {
		return broken("a file is longer than announced")
	}
	in.sum.h.Write(p)
	in.sum.n += int64(len(p))
	in.at += int64(len(p))
	if _, err := in.f.Write(p); err != nil {
		return fmt.Errorf("Write error: %w", reason(err)) //lint:ignore ST1005 the original's text
	}
	if in.at-in.behind >= writebackEvery {
		writeback(in.f, in.behind, in.at-in.behind)
		in.behind = in.at
	}
	return nil
}

// writebackEvery is after how many bytes the disk is set to work.
const writebackEvery = 8 << 20

var zeros [256 << 10]byte

func (in *incoming) hole(ctx context.Context, n int64, alive func() error) error {
	if n > in.size-in.at || in.match {
		return broken("a file is longer than announced")
	}
	in.at += n
	in.holes = true
	if _, err := in.f.Seek(in.at, io.SeekStart); err != nil {
		return reason(err)
	}
	for n > 0 {
		k := min(n, int64(len(zeros)))
		in.sum.h.Write(zeros[:k])
		in.sum.n += k
		n -= k
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := alive(); err != nil {
			return err
		}
	}
	return nil
}

// close lets go of a file that is not complete.
func (in *incoming) close(r *Receiver, remove bool) {
	if in.f != nil {
		in.f.Close()
		in.f = nil
	}
	if (remove || in.size <= eager) && in.part != "" && !in.match {
		r.remove(in.part)
	}
}

// quit gives up the file that the sender cannot send.
func (r *Receiver) quit(index uint32, why string) error {
	e := r.coming[index]
	delete(r.coming, index)
	if r.file != nil && r.file.index == index {
		r.file.close(r, true)
		r.file = nil
	}
	if e != nil {
		r.fail(&e.entry, errors.New(why))
	}
	return nil
}

// complete compares the sums and gives the file its name.
func (r *Receiver) complete(index uint32, sum []byte) error {
	e := r.coming[index]
	in := r.file
	if e == nil {
		return nil
	}
	if in == nil || in.index != index {
		return broken("the end of another file")
	}
	delete(r.coming, index)
	r.file = nil
	if in.at != in.size || !bytes.Equal(in.sum.h.Sum(nil), sum) {
		in.close(r, true)
		r.fail(&e.entry, errors.New("it arrived with other content than it was sent with"))
		return nil
	}
	if in.match {
		r.there(&e.entry)
		return nil
	}
	if err := r.commit(in, sum); err != nil {
		in.close(r, false)
		if fatal(err) {
			return err
		}
		r.fail(&e.entry, err)
	}
	return nil
}

// there counts a file that is at its place already, with the same content.
func (r *Receiver) there(e *entry) {
	r.names[fold(e.name)] = exact(e.name)
	r.res.Skipped++
	r.res.Files++
	r.res.Bytes += e.size
}

// commit gives a complete file its mode, time and name. Whoever looks at the name sees the old file or the new one.
func (r *Receiver) commit(in *incoming, sum []byte) error {
	e := &in.entry
	if in.size <= eager && r.same(e, sum) {
		in.close(r, true)
		r.there(e)
		return nil
	}
	var err error
	if in.holes {
		err = in.f.Truncate(in.size) // one may be at the end
	}
	if err == nil && runtime.GOOS != "windows" {
		err = in.f.Chmod(e.mode.Perm() &^ others)
	}
	if err == nil && (!hasSyncAll || in.size > 16<<20) {
		err = in.f.Sync()
	}
	if err = errors.Join(err, in.f.Close()); err != nil {
		in.f = nil
		return reason(err)
	}
	in.f = nil
	root, base := r.at(in.part)
	if err := root.Chtimes(base, time.Time{}, time.Unix(0, e.mtime)); err != nil {
		return reason(err)
	}
	name, skipped, err := r.name(in)
	if err != nil {
		return err
	}
	if skipped {
		r.remove(in.part)
		r.res.Skipped++
	} else {
		r.res.New++
		r.res.Written += in.size
		r.names[fold(name)] = exact(name)
		if name != e.name && r.res.Top == e.name {
			r.res.Top = name
		}
	}
	r.res.Files++
	r.res.Bytes += in.size
	return nil
}

// same reports whether a small file with this sum is there.
func (r *Receiver) same(e *entry, sum []byte) bool {
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

// name moves the part to its name, or to another one when that is taken.
func (r *Receiver) name(in *incoming) (name string, skipped bool, err error) {
	name = in.entry.name
	conflict := r.Conflict
	if other, clash := r.names[fold(name)]; clash && other != exact(name) {
		conflict = protocol.ConflictRename // two files of this very transfer that some systems take for one
	}
	if conflict == protocol.ConflictOverwrite {
		if info, err := r.lstat(name); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
			return name, false, errors.New("there is a folder, or something else that is no file, of that name")
		}
		return name, false, reason(r.rename(in.part, name))
	}
	for n := 2; ; n++ {
		err = r.exclusive(in.part, name)
		switch {
		case !errors.Is(err, fs.ErrExist):
			return name, false, reason(err)
		case conflict == protocol.ConflictSkip:
			return name, true, nil
		case n > 999:
			return name, false, errors.New("there are a thousand files of that name already")
		}
		if same := r.identical(name, in.part); same {
			return name, true, nil
		}
		name = path.Join(path.Dir(in.entry.name), numbered(path.Base(in.entry.name), n))
	}
}

// identical reports whether two files have the same content: an earlier attempt may have come this far.
func (r *Receiver) identical(a, b string) bool {
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
