package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"fairlead/gateway/protocol"
)

// expected is a file that was announced and not yet completed.
type expected struct {
	entry
	// The receiver's existing data: its hashes; whether it is a complete file instead of a part
	// file; its name.
	sum   *ladder
	whole bool
	found string
	some  bool // there is existing data
	// content is the identity of the part file's content when it was hashed ([identity]); empty
	// without a part file.
	content string
}

// incoming is a file that is being written.
type incoming struct {
	entry
	announced string // the name in the announcement
	part      string // its name until it is complete
	f         *os.File
	keeper    *keeper // stores checkpoints; may be nil
	sum       *ladder
	at        int64
	holes     bool
	behind    int64 // offset up to which the system was asked to write to the disk
	match     bool  // an existing file under its own name; nothing is written
}

// markOf returns the prefix of the names of all unfinished files of a transfer. No other file has
// it.
func markOf(id protocol.TransferID) string {
	h := sha256.Sum256([]byte(id))
	return partPrefix + hex.EncodeToString(h[:8]) + "-"
}

// partName returns the name of an unfinished file, which is the same in every attempt of a
// transfer.
func (r *Receiver) partName(name string) string {
	h := sha256.Sum256([]byte(string(r.Transfer) + "\x00" + name))
	return path.Join(path.Dir(name), markOf(r.Transfer)+hex.EncodeToString(h[:8])+partSuffix)
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
		r.file.close(r, true) // it changed at the source, and is sent again
		r.file = nil
	}
	e := r.coming[index]
	if e == nil {
		return nil // not wanted, or failed: the data that follows is ignored
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
		r.told = time.Time{} // report progress at once, so that the gateway knows which file is unfinished if the transfer stops here
	}
	return nil
}

// guess is begin for a file of which the sender assumes that the receiver has nothing. Otherwise it
// does nothing, and the existing data stays.
func (r *Receiver) guess(index uint32) error {
	if e := r.coming[index]; e == nil || e.some {
		return nil
	}
	return r.begin(index, 0)
}

func (r *Receiver) open(x *expected, offset int64) (*incoming, error) {
	in := &incoming{entry: x.entry, announced: x.name, part: r.partName(x.name), sum: newLadder(nil), at: offset, behind: offset}
	if offset > 0 {
		if x.sum == nil || x.whole && offset != x.size || !x.sum.back(offset) {
			return nil, broken("a file begins where nobody said")
		}
		in.sum = x.sum
		if in.match = x.whole; in.match {
			in.name = x.found
			return in, nil
		}
	}
	if dir := path.Dir(in.part); r.Note != nil && !r.noted[dir] {
		r.noted[dir] = true
		r.Note(dir)
	}
	key := keyOf(ofPart, x.name)
	if _, err := r.lstat(in.part); errors.Is(err, fs.ErrNotExist) {
		if err := r.trail.cut(key, "", 0); err != nil { // otherwise an old checkpoint could be applied to the new part file
			return nil, reason(err)
		}
	}
	var err error
	in.f, err = r.openFile(in.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // left by an earlier attempt
		if info, err := r.lstat(in.part); err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no file", in.part)
		}
		if in.f, err = r.openFile(in.part, os.O_WRONLY, 0); err == nil {
			id := identity(in.f)
			if offset > 0 && id.content != x.content {
				err = errors.New("somebody changed what was there of it: retry")
			} else if err = r.trail.cut(key, id.file, offset); err == nil {
				err = in.f.Truncate(offset)
			}
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
	if r.trail != nil && in.size > stride {
		r.trail.rest(x.name, "")
		file := identity(in.f).file
		in.keeper = r.keeper(in.f)
		in.sum.tell = func(m mark) {
			in.keeper.keep(note{key, step{mark: m, file: file}})
		}
	}
	return in, nil
}

func (in *incoming) write(p []byte) error {
	if int64(len(p)) > in.size-in.at || in.match && len(p) > 0 {
		return broken("a file is longer than announced")
	}
	if len(p) == 0 {
		return nil
	}
	in.at += int64(len(p))
	if _, err := in.f.Write(p); err != nil {
		return writeError(reason(err))
	}
	in.sum.add(p) // existing data: a checkpoint can be made of it
	if in.at-in.behind >= writebackEvery {
		writeback(in.f, in.behind, in.at-in.behind)
		in.behind = in.at
	}
	return nil
}

// writebackEvery is the number of bytes after which the system is asked to write to the disk.
const writebackEvery = 8 << 20

var zeros [256 << 10]byte

func (in *incoming) hole(ctx context.Context, n int64, alive func() error) error {
	if n > in.size-in.at || in.match {
		return broken("a file is longer than announced")
	}
	if in.at += n; !in.holes {
		in.holes = true
		makeHoles(in.f)
	}
	if err := in.f.Truncate(in.at); err != nil { // so that no checkpoint is made of data beyond the end
		return writeError(reason(err))
	}
	if _, err := in.f.Seek(in.at, io.SeekStart); err != nil {
		return reason(err)
	}
	for n > 0 {
		k := min(n, int64(len(zeros)))
		in.sum.add(zeros[:k])
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

// close closes an incomplete file.
func (in *incoming) close(r *Receiver, remove bool) {
	lost := in.keeper.end(remove) != nil
	if in.f != nil {
		if in.keeper != nil && !remove && !lost {
			r.trail.rest(in.announced, identity(in.f).content)
		}
		in.f.Close()
		in.f = nil
	}
	switch {
	case in.match || in.part == "":
	case remove || in.size <= eager:
		r.remove(in.part)
	case lost:
		r.doubted(in)
	}
}

// quit gives up a file that the sender cannot send.
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
