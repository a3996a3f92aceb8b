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

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// incomingFile is a file that was announced and is not complete.
type incomingFile struct {
	entry
	// The receiver's existing data: whether it is a complete file instead of a part file, and its
	// name; the identity of its content when it was hashed ([identity]).
	isComplete bool
	found      string
	content    string
	hasher     *hasher // of the existing data, and then of all data; nil: none exists yet
	// Of the file that is being written:
	part      string   // its name until it is complete
	f         *os.File // nil if a complete file is used as it is
	offset    int64
	holes     bool
	flushedTo int64 // offset up to which the system was asked to write to the disk
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
	in := r.announced[index]
	if in == nil {
		return nil // not wanted, or failed: the data that follows is ignored
	}
	if err := r.open(in, offset); err != nil {
		if isFatal(err) {
			return err
		}
		delete(r.announced, index)
		r.result.addFailure(in.name, err)
		return nil
	}
	r.current = in
	if in.size > smallFile {
		r.lastProgress = time.Time{} // report progress at once, so that the gateway knows which file is unfinished if the transfer stops here
	}
	return nil
}

// open prepares a file for the data from an offset on.
func (r *Receiver) open(in *incomingFile, offset int64) (err error) {
	in.offset, in.flushedTo, in.holes, in.f = offset, offset, false, nil
	if offset > 0 {
		if in.hasher == nil || in.isComplete && offset != in.size || !in.hasher.rewind(offset) {
			return protocolError("a file starts that was not announced")
		}
		if in.isComplete {
			return nil
		}
	} else {
		in.hasher, in.isComplete = newHasher(nil), false
	}
	in.part = partName(r.Transfer, in.name)
	if dir := path.Dir(in.part); r.OnFolder != nil && !r.recordedFolders[dir] {
		r.recordedFolders[dir] = true
		r.OnFolder(dir)
	}
	if offset == 0 {
		in.f, err = r.Root.OpenFile(in.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if offset > 0 || errors.Is(err, fs.ErrExist) { // left by an earlier attempt
		in.f, err = r.continuePart(in)
	}
	if in.f == nil {
		return fmt.Errorf("Failed to create file %s: %w", in.name, nameError(err))
	}
	if err != nil {
		in.hasher = newHasher(nil) // what was hashed may differ from the file
		in.close(r, false)
		return format.WithoutPath(err)
	}
	return nil
}

// continuePart opens a part file and cuts it off at the file's offset. The returned file may be
// open although there is an error.
func (r *Receiver) continuePart(in *incomingFile) (*os.File, error) {
	if info, err := r.Root.Lstat(in.part); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("the partial file is missing, or is not a regular file")
	}
	f, err := r.Root.OpenFile(in.part, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if in.offset > 0 && identity(f).content != in.content {
		return f, errors.New("the partial file was changed: retry")
	}
	if err := f.Truncate(in.offset); err != nil {
		return f, err
	}
	_, err = f.Seek(in.offset, io.SeekStart)
	return f, err
}

func (in *incomingFile) write(p []byte) error {
	if int64(len(p)) > in.size-in.offset || in.f == nil && len(p) > 0 {
		return protocolError("a file is longer than announced")
	}
	if len(p) == 0 {
		return nil
	}
	in.offset += int64(len(p))
	if _, err := in.f.Write(p); err != nil {
		return writeError(format.WithoutPath(err))
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

func (in *incomingFile) hole(ctx context.Context, n int64) error {
	if n > in.size-in.offset || in.f == nil {
		return protocolError("a file is longer than announced")
	}
	in.offset += n
	if !in.holes {
		in.holes = true
		allowHoles(in.f)
	}
	if err := in.f.Truncate(in.offset); err != nil {
		return writeError(format.WithoutPath(err))
	}
	if _, err := in.f.Seek(in.offset, io.SeekStart); err != nil {
		return format.WithoutPath(err)
	}
	return in.hasher.addZeros(ctx, n)
}

// close closes an incomplete file.
func (in *incomingFile) close(r *Receiver, remove bool) {
	if in.isComplete {
		return
	}
	remove = remove || in.size <= smallFile
	if in.f != nil {
		if !remove && in.f.Sync() != nil {
			remove = true
		}
		r.checkpoints.add(in.name, fileState{content: identity(in.f).content, states: in.hasher.states()})
		in.f.Close()
	}
	if remove {
		r.Root.Remove(in.part)
	}
}

// abandonFile gives up a file that the sender cannot send.
func (r *Receiver) abandonFile(index uint32, why string) {
	in := r.announced[index]
	delete(r.announced, index)
	if r.current != nil && r.current.index == index {
		r.current.close(r, true)
		r.current = nil
	}
	if in != nil {
		r.result.addFailure(in.name, errors.New(why))
	}
}
