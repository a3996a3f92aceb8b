package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"fairlead/gateway/peer/format"
)

// errFileChanged reports that a file changed while it was sent.
var errFileChanged = errors.New("it changed during the transfer")

// sendFile sends one file, and again if it changes meanwhile.
func (s *Sender) sendFile(ctx context.Context, f sourceFile, v verdict) error {
	for try := 1; ; try++ {
		err := s.sendOnce(ctx, f, v, try)
		var local *fileError
		switch {
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
type fileError struct{ error }

func (e *fileError) Unwrap() error { return e.error }

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
	id := identity(file)
	sum := newHasher(nil)
	if f.size > smallFile && id.age >= minFileAge {
		defer func() { s.checkpoints.add(f.name, fileState{content: id.content, states: sum.states()}) }()
	}
	if v.have > 0 && v.have <= f.size {
		if sum, err = s.findCommonPrefix(ctx, file, f.name, v); err != nil {
			return err
		}
		if _, err := file.Seek(sum.n, io.SeekStart); err != nil {
			return &fileError{format.WithoutPath(err)}
		}
	}
	b := binary.LittleEndian.AppendUint32(nil, f.index)
	if err := s.packer.add(ctx, recBegin, binary.LittleEndian.AppendUint64(b, uint64(sum.n))); err != nil {
		return err
	}
	if err := s.sendData(ctx, file, sum, f.size, isSparse(info)); err != nil {
		return err
	}
	now, err := file.Stat()
	if err != nil || now.Size() != f.size || now.ModTime().UnixNano() != f.mtime {
		return &fileError{errFileChanged}
	}
	return s.packer.add(ctx, recFile, append(binary.LittleEndian.AppendUint32(nil, f.index), sum.h.Sum(nil)...))
}

// findCommonPrefix determines up to which offset the receiver has the same bytes. It returns the
// hasher of everything that it has read also with an error.
func (s *Sender) findCommonPrefix(ctx context.Context, file *os.File, name string, v verdict) (*hasher, error) {
	alive := func(ctx context.Context) {
		if s.packer.add(ctx, recAlive, nil) == nil {
			s.packer.flush(ctx)
		}
	}
	sum := s.checkpoints.hasher(name, file, v.have)
	err := withKeepAlive(ctx, alive, func() error { return sum.hashUpTo(ctx, file, v.have) })
	s.rehashed += sum.rehashed
	switch {
	case err != nil && ctx.Err() != nil:
		return sum, err
	case err != nil:
		return sum, &fileError{errFileChanged}
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

// sendData sends the rest of a file, which must be size bytes long. The holes of a sparse file are
// sent as holes.
func (s *Sender) sendData(ctx context.Context, file *os.File, sum *hasher, size int64, sparse bool) error {
	end := size // of the data at the current offset
	if sparse {
		end = sum.n
	}
	for sum.n < size {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if sum.n == end {
			if err := s.sendHole(ctx, sum, holeLength(file, sum.n, size)); err != nil {
				return err
			}
			end = max(dataEnd(file, sum.n, size), sum.n+1)
			if _, err := file.Seek(sum.n, io.SeekStart); err != nil {
				return &fileError{format.WithoutPath(err)}
			}
			continue
		}
		data, err := s.packer.addData(ctx, file, end-sum.n)
		if err != nil {
			return err
		}
		sum.add(data)
	}
	return nil
}

// maxHole is the maximum number of zeros in a record: hashing them takes time too.
const maxHole = 256 << 20

// sendHole sends n zeros as holes.
func (s *Sender) sendHole(ctx context.Context, sum *hasher, n int64) error {
	for n > 0 {
		part := min(n, maxHole)
		n -= part
		if err := sum.addZeros(ctx, part); err != nil {
			return err
		}
		if err := s.packer.add(ctx, recHole, binary.LittleEndian.AppendUint64(nil, uint64(part))); err != nil {
			return err
		}
		if err := s.packer.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// openRegular opens a file for sending, without blocking on a named pipe.
func openRegular(root *os.Root, at string) (*os.File, os.FileInfo, error) {
	f, err := root.OpenFile(at, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, format.WithoutPath(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s", describeKind(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, nil, format.WithoutPath(err)
	}
	return f, info, nil
}
