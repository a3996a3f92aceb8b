package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// errFileChanged reports that a file changed while it was sent.
var errFileChanged = errors.New("it changed during the transfer")

// sendFile sends one file, and again if it changes meanwhile.
func (s *Sender) sendFile(ctx context.Context, f sourceFile, v verdict) error {
	for try := 1; ; try++ {
		err := s.sendOnce(ctx, f, v, try)
		var local *fileError
		var wrong *earlyStartError
		switch {
		case errors.As(err, &wrong):
			if v = wrong.verdict; v.have < 0 {
				return nil
			}
			try = 0
			continue
		case !errors.As(err, &local):
			return err
		case errors.Is(err, errFileChanged) && try < maxTries:
			v.have = 0
			continue
		}
		b := binary.LittleEndian.AppendUint32(nil, f.index)
		return s.packer.add(ctx, recFailed, append(b, cut(local.Error(), maxText)...))
	}
}

// fileError is the failure of one file, which does not end the transfer.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

func (s *Sender) sendOnce(ctx context.Context, f sourceFile, v verdict, try int) error {
	file, info, err := openRegular(f.root, f.at)
	if err != nil {
		return &fileError{err}
	}
	defer file.Close()
	if try > 1 || info.Size() != f.size || info.ModTime().UnixNano() != f.mtime {
		if v.have == f.size {
			v.have = 0 // it may be a complete file at the receiver, to which nothing can be added
		}
		f.size, f.mtime, f.mode = info.Size(), info.ModTime().UnixNano(), info.Mode()&fs.ModePerm
		if err := s.packer.add(ctx, recEntry, f.encode()); err != nil {
			return err
		}
	}
	var t *checkpointLog
	if f.size > smallFile {
		t = s.checkpoints
	}
	w := newFileCheckpoints(t, recordKeyOf(sourceFileRecord, f.name), "", file)
	sum := newHasher(nil)
	if v.have > 0 && v.have <= f.size {
		if sum, err = s.findCommonPrefix(ctx, file, v, w); err != nil {
			return err
		}
		if _, err := file.Seek(sum.n, io.SeekStart); err != nil {
			return &fileError{withoutPath(err)}
		}
	}
	b := binary.LittleEndian.AppendUint32(nil, f.index)
	if v.early.isPending() {
		err = s.packer.add(ctx, recGuess, b)
	} else {
		err = s.packer.add(ctx, recBegin, binary.LittleEndian.AppendUint64(b, uint64(sum.n)))
	}
	if err != nil {
		return err
	}
	sum.onCheckpoint = w.add
	if err := s.sendData(ctx, file, sum, f.size, isSparse(info), v.early); err != nil {
		return err
	}
	if v.early.isPending() {
		if err := v.early.waitVerdict(ctx); err != nil {
			return err
		}
	}
	w.add(sum.state())
	now, err := file.Stat()
	if err != nil || now.Size() != f.size || now.ModTime().UnixNano() != f.mtime {
		return &fileError{errFileChanged}
	}
	return s.packer.add(ctx, recFile, append(binary.LittleEndian.AppendUint32(nil, f.index), sum.h.Sum(nil)...))
}

// findCommonPrefix determines up to which offset the receiver has the same bytes.
func (s *Sender) findCommonPrefix(ctx context.Context, file *os.File, v verdict, w *fileCheckpoints) (*hasher, error) {
	s.lastAlive = time.Now()
	var aliveErr error
	alive := func() {
		if aliveErr == nil && time.Since(s.lastAlive) > aliveEvery {
			s.lastAlive = time.Now()
			if aliveErr = s.packer.add(ctx, recAlive, nil); aliveErr == nil {
				aliveErr = s.packer.flush(ctx)
			}
		}
	}
	sum := newHasher(w.upTo(v.have))
	sum.onCheckpoint = w.add
	err := sum.hashUpTo(ctx, file, v.have, alive)
	s.rehashed += sum.rehashed
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &fileError{errFileChanged}
	case aliveErr != nil:
		return nil, aliveErr
	}
	for i := len(v.sums) - 1; i >= 0; i-- {
		n := min(int64(i+1)*blockSize(v.have), v.have)
		if theirs := string(v.sums[i]); theirs != noSum && theirs == string(sum.sum(n)) {
			sum.rewind(n)
			return sum, nil
		}
	}
	sum.rewind(0)
	return sum, nil
}

// noSum stands for a missing checksum.
var noSum = string(make([]byte, sumSize))

// sendData sends the rest of a file, which must be size bytes long, unless an early start of it
// proves wrong. Zeros of a file with holes are sent as holes.
func (s *Sender) sendData(ctx context.Context, file *os.File, sum *hasher, size int64, holes bool, g *earlyStart) error {
	run, look := int64(0), int64(0) // number of zeros read but not sent; offset of the next search for a hole
	for sum.n < size {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if g.isPending() {
			if err := g.checkVerdict(); err != nil {
				return err
			}
		}
		if holes && sum.n >= look && run == 0 {
			n, err := s.sendHoleHere(ctx, file, sum, size)
			if err != nil {
				return err
			}
			if look = sum.n + lookEvery; n > 0 {
				continue
			}
		}
		buf, err := s.read(ctx, file, size-sum.n)
		if err != nil {
			return err
		}
		sum.add(buf)
		if holes && allZero(buf) {
			if run += int64(len(buf)); run < maxRun && sum.n < size {
				continue
			}
			if err := s.sendHole(ctx, &run); err != nil {
				return err
			}
			continue
		}
		if run > 0 {
			kept := bytes.Clone(buf) // the hole's record takes this space in the frame
			if err := s.sendHole(ctx, &run); err != nil {
				return err
			}
			if err := s.sendCopy(ctx, kept); err != nil {
				return err
			}
			continue
		}
		s.packer.commit(len(buf))
		if size > smallFile && len(s.packer.frame.buf) > idSize+s.packer.limit-piece {
			if err := s.packer.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece is the minimum number of bytes of a file to read at once.
const piece = 16 << 10

// read reads the next part of the file, of which left bytes remain, into the frame; it is sent when
// it is committed.
func (s *Sender) read(ctx context.Context, file io.Reader, left int64) ([]byte, error) {
	buf, err := s.packer.space(ctx, int(min(left, piece)))
	if err != nil {
		return nil, err
	}
	n, err := file.Read(buf[:min(int64(len(buf)), left)])
	if n == 0 && err != nil {
		if errors.Is(err, io.EOF) {
			err = errFileChanged
		}
		return nil, &fileError{withoutPath(err)}
	}
	return buf[:n], nil
}

// sendCopy copies bytes into frames.
func (s *Sender) sendCopy(ctx context.Context, data []byte) error {
	for len(data) > 0 {
		buf, err := s.packer.space(ctx, 1)
		if err != nil {
			return err
		}
		n := copy(buf, data)
		s.packer.commit(n)
		data = data[n:]
	}
	return nil
}

// openRegular opens a file for sending, without blocking on a named pipe.
func openRegular(root *os.Root, at string) (*os.File, os.FileInfo, error) {
	f, err := root.OpenFile(at, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s", describeKind(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, nil, withoutPath(err)
	}
	return f, info, nil
}
