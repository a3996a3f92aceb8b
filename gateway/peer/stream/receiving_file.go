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

// announcedFile is a file that was announced and not yet completed.
type announcedFile struct {
	entry
	// The receiver's existing data: its hashes; whether it is a complete file instead of a part
	// file; its name.
	hasher     *hasher
	isComplete bool
	found      string
	// content is the identity of the part file's content when it was hashed ([identity]); empty
	// without a part file.
	content string
}

// receivingFile is a file that is being written.
type receivingFile struct {
	entry
	announced string // the name in the announcement
	part      string // its name until it is complete
	f         *os.File
	hasher    *hasher
	offset    int64
	holes     bool
	flushedTo int64 // offset up to which the system was asked to write to the disk
	match     bool  // an existing file under its own name; nothing is written
}

// partPrefixOf returns the prefix of the names of all unfinished files of a transfer. No other file
// has it.
func partPrefixOf(id protocol.TransferID) string {
	return partPrefix + shortHash(string(id)) + "-"
}

// partName returns the name of an unfinished file, which is the same in every attempt of a
// transfer.
func partName(id protocol.TransferID, name string) string {
	return path.Join(path.Dir(name), partPrefixOf(id)+shortHash(string(id)+"\x00"+name)+partSuffix)
}

// shortHash returns the first 16 hexadecimal digits of a text's SHA-256.
func shortHash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}

// begin opens the file whose data follows.
func (r *Receiver) begin(index uint32, offset int64) error {
	if r.current != nil {
		if r.current.index != index || offset != 0 {
			return protocolError("a file begins in another one")
		}
		r.current.close(r, true) // it changed at the source, and is sent again
		r.current = nil
	}
	e := r.announced[index]
	if e == nil {
		return nil // not wanted, or failed: the data that follows is ignored
	}
	f, err := r.open(e, offset)
	if err != nil {
		if isFatal(err) {
			return err
		}
		delete(r.announced, index)
		r.result.addFailure(e.name, err)
		return nil
	}
	r.current = f
	if f.size > smallFile {
		r.lastProgress = time.Time{} // report progress at once, so that the gateway knows which file is unfinished if the transfer stops here
	}
	return nil
}

func (r *Receiver) open(x *announcedFile, offset int64) (*receivingFile, error) {
	in := &receivingFile{entry: x.entry, announced: x.name, part: partName(r.Transfer, x.name), hasher: newHasher(nil), offset: offset, flushedTo: offset}
	if offset > 0 {
		if x.hasher == nil || x.isComplete && offset != x.size || !x.hasher.rewind(offset) {
			return nil, protocolError("a file starts that was not announced")
		}
		in.hasher = x.hasher
		if in.match = x.isComplete; in.match {
			in.name = x.found
			return in, nil
		}
	}
	if dir := path.Dir(in.part); r.OnFolder != nil && !r.recordedFolders[dir] {
		r.recordedFolders[dir] = true
		r.OnFolder(dir)
	}
	var err error
	in.f, err = r.Root.OpenFile(in.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // left by an earlier attempt
		if info, err := r.Root.Lstat(in.part); err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no file", in.part)
		}
		if in.f, err = r.Root.OpenFile(in.part, os.O_WRONLY, 0); err == nil {
			if offset > 0 && identity(in.f).content != x.content {
				err = errors.New("the partial file was changed: retry")
			} else {
				err = in.f.Truncate(offset)
			}
		}
		if info, statErr := in.f.Stat(); err == nil && (statErr != nil || info.Size() != offset) {
			err = errors.New("the partial file is missing")
		}
	} else if err == nil && offset > 0 {
		in.f.Close()
		r.Root.Remove(in.part)
		return nil, errors.New("the partial file is missing")
	}
	if in.f == nil {
		return nil, fmt.Errorf("Failed to create file %s: %w", x.name, WithoutPath(err))
	}
	if err == nil && offset > 0 {
		_, err = in.f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		in.hasher = newHasher(nil) // what was hashed may differ from the file
		in.close(r, false)
		return nil, WithoutPath(err)
	}
	return in, nil
}

func (in *receivingFile) write(p []byte) error {
	if int64(len(p)) > in.size-in.offset || in.match && len(p) > 0 {
		return protocolError("a file is longer than announced")
	}
	if len(p) == 0 {
		return nil
	}
	in.offset += int64(len(p))
	if _, err := in.f.Write(p); err != nil {
		return writeError(WithoutPath(err))
	}
	in.hasher.add(p)
	if in.offset-in.flushedTo >= writebackEvery {
		writeback(in.f, in.flushedTo, in.offset-in.flushedTo)
		in.flushedTo = in.offset
	}
	return nil
}

// writebackEvery is the number of bytes after which the system is asked to write to the disk.
const writebackEvery = 8 << 20

func (in *receivingFile) hole(ctx context.Context, n int64) error {
	if n > in.size-in.offset || in.match {
		return protocolError("a file is longer than announced")
	}
	in.offset += n
	if !in.holes {
		in.holes = true
		allowHoles(in.f)
	}
	if err := in.f.Truncate(in.offset); err != nil {
		return writeError(WithoutPath(err))
	}
	if _, err := in.f.Seek(in.offset, io.SeekStart); err != nil {
		return WithoutPath(err)
	}
	return in.hasher.addZeros(ctx, n)
}

// close closes an incomplete file.
func (in *receivingFile) close(r *Receiver, remove bool) {
	if in.match {
		return
	}
	remove = remove || in.size <= smallFile
	if in.f != nil {
		if !remove && in.f.Sync() != nil {
			remove = true
		}
		r.checkpoints.add(in.announced, fileState{content: identity(in.f).content, states: in.hasher.states()})
		in.f.Close()
	}
	if remove {
		r.Root.Remove(in.part)
	}
}

// abandonFile gives up a file that the sender cannot send.
func (r *Receiver) abandonFile(index uint32, why string) {
	e := r.announced[index]
	delete(r.announced, index)
	if r.current != nil && r.current.index == index {
		r.current.close(r, true)
		r.current = nil
	}
	if e != nil {
		r.result.addFailure(e.name, errors.New(why))
	}
}
