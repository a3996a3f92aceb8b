package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// errMoved says that a file changed while it was sent.
var errMoved = errors.New("it changed while it was sent")

// file sends one file, again when it changes meanwhile.
func (s *Sender) file(ctx context.Context, f found, v verdict) error {
	for try := 1; ; try++ {
		err := s.once(ctx, f, v, try)
		var local *fileError
		var wrong *guessError
		switch {
		case errors.As(err, &wrong):
			if v = wrong.verdict; v.have < 0 {
				return nil
			}
			try = 0
			continue
		case !errors.As(err, &local):
			return err
		case errors.Is(err, errMoved) && try < tries:
			v.have = 0
			continue
		}
		b := binary.LittleEndian.AppendUint32(nil, f.index)
		return s.pack.add(ctx, recQuit, append(b, cut(local.Error(), maxText)...))
	}
}

// fileError is the failure of one file, not of the transfer.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

func (s *Sender) once(ctx context.Context, f found, v verdict, try int) error {
	file, info, err := openRegular(f.root, f.at)
	if err != nil {
		return &fileError{err}
	}
	defer file.Close()
	if try > 1 || info.Size() != f.size || info.ModTime().UnixNano() != f.mtime {
		if v.have == f.size {
			v.have = 0 // it may be a complete file there, to which nothing is added
		}
		f.size, f.mtime, f.mode = info.Size(), info.ModTime().UnixNano(), info.Mode()&fs.ModePerm
		if err := s.pack.add(ctx, recEntry, f.encode()); err != nil {
			return err
		}
	}
	var t *trail
	if f.size > eager {
		t = s.trail
	}
	w := watch(t, keyOf(ofSource, f.name), "", file)
	sum := newLadder(nil)
	if v.have > 0 && v.have <= f.size {
		if sum, err = s.agree(ctx, file, v, w); err != nil {
			return err
		}
		if _, err := file.Seek(sum.n, io.SeekStart); err != nil {
			return &fileError{reason(err)}
		}
	}
	b := binary.LittleEndian.AppendUint32(nil, f.index)
	if v.guess.open() {
		err = s.pack.add(ctx, recGuess, b)
	} else {
		err = s.pack.add(ctx, recBegin, binary.LittleEndian.AppendUint64(b, uint64(sum.n)))
	}
	if err != nil {
		return err
	}
	sum.tell = w.keep
	if err := s.data(ctx, file, sum, f.size, sparse(info), v.guess); err != nil {
		return err
	}
	if v.guess.open() {
		if err := v.guess.settle(ctx); err != nil {
			return err
		}
	}
	w.keep(sum.state())
	now, err := file.Stat()
	if err != nil || now.Size() != f.size || now.ModTime().UnixNano() != f.mtime {
		return &fileError{errMoved}
	}
	return s.pack.add(ctx, recFile, append(binary.LittleEndian.AppendUint32(nil, f.index), sum.h.Sum(nil)...))
}

// agree finds out up to where the receiver has the same.
func (s *Sender) agree(ctx context.Context, file *os.File, v verdict, w *watcher) (*ladder, error) {
	s.busy = time.Now()
	var aliveErr error
	alive := func() {
		if aliveErr == nil && time.Since(s.busy) > aliveEvery {
			s.busy = time.Now()
			if aliveErr = s.pack.add(ctx, recAlive, nil); aliveErr == nil {
				aliveErr = s.pack.flush(ctx)
			}
		}
	}
	sum := newLadder(w.marks(v.have))
	sum.tell = w.keep
	err := sum.climb(ctx, file, v.have, alive)
	s.reread += sum.read
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &fileError{errMoved}
	case aliveErr != nil:
		return nil, aliveErr
	}
	for i := len(v.sums) - 1; i >= 0; i-- {
		n := min(int64(i+1)*blockOf(v.have), v.have)
		if theirs := string(v.sums[i]); theirs != noSum && theirs == string(sum.sum(n)) {
			sum.back(n)
			return sum, nil
		}
	}
	sum.back(0)
	return sum, nil
}

// noSum is what stands for a sum that there is not.
var noSum = string(make([]byte, sumSize))

// data sends the rest of a file, which must be size bytes long, unless a guess about it proves wrong. Zeros of a file with holes stay holes.
func (s *Sender) data(ctx context.Context, file *os.File, sum *ladder, size int64, holes bool, g *guess) error {
	run, look := int64(0), int64(0) // zeros that were read and not sent; where to look for a hole next
	for sum.n < size {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if g.open() {
			if err := g.ask(); err != nil {
				return err
			}
		}
		if holes && sum.n >= look && run == 0 {
			n := gap(file, sum.n, size)
			if n > 0 {
				if err := s.skip(ctx, sum, n); err != nil {
					return err
				}
			}
			if _, err := file.Seek(sum.n, io.SeekStart); err != nil {
				return &fileError{reason(err)}
			}
			if look = sum.n + lookEvery; n > 0 {
				continue
			}
		}
		buf, err := s.pack.space(ctx, int(min(size-sum.n, 16<<10)))
		if err != nil {
			return err
		}
		buf = buf[:min(int64(len(buf)), size-sum.n)]
		n, err := file.Read(buf)
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				err = errMoved
			}
			return &fileError{reason(err)}
		}
		sum.add(buf[:n])
		if holes && allZero(buf[:n]) {
			if run += int64(n); run < 1<<30 && sum.n < size {
				continue
			}
			if err := s.hole(ctx, &run); err != nil {
				return err
			}
			continue
		}
		if run > 0 {
			kept := append([]byte(nil), buf[:n]...) // the hole takes its place in the frame
			if err := s.hole(ctx, &run); err != nil {
				return err
			}
			for len(kept) > 0 {
				buf, err := s.pack.space(ctx, 1)
				if err != nil {
					return err
				}
				k := copy(buf, kept)
				s.pack.commit(k)
				kept = kept[k:]
			}
			continue
		}
		s.pack.commit(n)
		if size > eager && len(s.pack.frame.buf) > idSize+s.pack.limit-(16<<10) {
			if err := s.pack.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookEvery is after how many bytes a file with holes is looked at for the next one.
const lookEvery = 1 << 20

// skip sends a hole, a part at a time: hashing zeros takes its time too.
func (s *Sender) skip(ctx context.Context, sum *ladder, n int64) error {
	for n > 0 {
		part := min(n, 256<<20)
		n -= part
		for left := part; left > 0; {
			k := min(left, int64(len(zeros)))
			sum.add(zeros[:k])
			left -= k
		}
		if err := s.hole(ctx, &part); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sender) hole(ctx context.Context, run *int64) error {
	n := *run
	*run = 0
	if err := s.pack.add(ctx, recHole, binary.LittleEndian.AppendUint64(nil, uint64(n))); err != nil {
		return err
	}
	return s.pack.flush(ctx)
}

func allZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// openRegular opens a file to be sent, without waiting for anyone.
func openRegular(root *os.Root, at string) (*os.File, os.FileInfo, error) {
	f, err := root.OpenFile(at, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, reason(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s", kind(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, nil, reason(err)
	}
	return f, info, nil
}
