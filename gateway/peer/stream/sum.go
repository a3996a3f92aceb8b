package stream

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"hash"
	"io"
)

const (
	sumSize = sha256.Size
	// stride is the distance of stored checkpoints in bytes: about as much is hashed again after an
	// interruption.
	stride = 16 << 20
	// block is the distance in bytes of the checksums that tell how much of an unfinished file is
	// valid, for files with at most maxBlocks of them.
	block     = 64 << 20
	maxBlocks = 1024
)

// blockOf returns the distance of the checksums of n bytes.
func blockOf(n int64) int64 {
	b := int64(block)
	for n/b > maxBlocks {
		b *= 2
	}
	return b
}

// blocks returns the number of checksums of n bytes.
func blocks(n int64) int {
	b := blockOf(n)
	return int((n + b - 1) / b)
}

// ladder hashes a file from its beginning and retains the states at the ends of blocks.
type ladder struct {
	h     hash.Hash
	n     int64
	marks []mark
	tell  func(mark) // called with each checkpoint; may be nil
	read  int64      // existing bytes that were hashed again
}

// newLadder continues from the last checkpoint of a file.
func newLadder(marks []mark) *ladder {
	l := &ladder{h: sha256.New()}
	if len(marks) == 0 {
		return l
	}
	last := marks[len(marks)-1]
	if l.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(last.state) != nil {
		l.h = sha256.New()
		return l
	}
	l.n = last.n
	if l.marks = marks; last.n%blockOf(last.n) != 0 {
		l.marks = marks[:len(marks)-1]
	}
	return l
}

func (l *ladder) state() mark {
	state, _ := l.h.(encoding.BinaryMarshaler).MarshalBinary() // never fails for SHA-256
	return mark{l.n, state}
}

// add hashes the next bytes.
func (l *ladder) add(p []byte) {
	for len(p) > 0 {
		k := min(int64(len(p)), stride-l.n%stride)
		l.h.Write(p[:k])
		l.n += k
		if p = p[k:]; l.n%stride == 0 {
			l.mark()
		}
	}
}

func (l *ladder) mark() {
	m := l.state()
	if b := blockOf(m.n); m.n%b == 0 {
		if k := len(l.marks); k > 0 && l.marks[0].n < b { // the blocks are twice as long from now on
			kept := l.marks[:0]
			for _, old := range l.marks {
				if old.n%b == 0 {
					kept = append(kept, old)
				}
			}
			l.marks = kept
		}
		l.marks = append(l.marks, m)
	}
	if l.tell != nil {
		l.tell(m)
	}
}

// climb hashes r from the current offset to n. A shorter r is io.ErrUnexpectedEOF.
func (l *ladder) climb(ctx context.Context, r io.ReaderAt, n int64, alive func()) error {
	buf := make([]byte, 128<<10)
	for l.n < n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k, err := r.ReadAt(buf[:min(int64(len(buf)), n-l.n)], l.n)
		l.add(buf[:k])
		l.read += int64(k)
		if err != nil && l.n < n {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		alive()
	}
	return nil
}

// sums returns the checksums up to the end of each block, and of everything that was hashed.
func (l *ladder) sums() [][]byte {
	list := make([][]byte, blocks(l.n))
	for i := range list {
		list[i] = l.sum(int64(i+1) * blockOf(l.n))
	}
	if len(list) > 0 {
		list[len(list)-1] = l.h.Sum(nil)
	}
	return list
}

// sum returns the checksum up to an offset; all zeros if there is no state for it.
func (l *ladder) sum(n int64) []byte {
	if n == l.n {
		return l.h.Sum(nil)
	}
	for _, m := range l.marks {
		h := sha256.New()
		if m.n == n && h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.state) == nil {
			return h.Sum(nil)
		}
	}
	return make([]byte, sumSize)
}

// back returns to an earlier state, or to the beginning, and reports whether there was a state at
// n.
func (l *ladder) back(n int64) bool {
	if n == l.n {
		return true
	}
	for i, m := range l.marks {
		if m.n == n && l.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.state) == nil {
			l.n, l.marks = n, l.marks[:i+1]
			return true
		}
	}
	l.h, l.n, l.marks = sha256.New(), 0, nil
	return n == 0
}
