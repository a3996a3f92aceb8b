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
	// block is how far apart the sums are that tell how much of an unfinished file is good.
	block = 64 << 20
)

// blocks is how many sums there are of n bytes.
func blocks(n int64) int { return int((n + block - 1) / block) }

// ladder hashes a file from its beginning and keeps a sum at each block's end.
type ladder struct {
	h      hash.Hash
	n      int64
	sums   [][]byte
	states [][]byte // of the hash, where the sums are; nil unless wanted
	keep   bool
}

func newLadder(keep bool) *ladder { return &ladder{h: sha256.New(), keep: keep} }

// climb hashes r up to n bytes. A shorter r is io.ErrUnexpectedEOF.
func (l *ladder) climb(ctx context.Context, r io.Reader, n int64, alive func()) error {
	buf := make([]byte, 128<<10)
	for l.n < n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		want := min(int64(len(buf)), n-l.n, block-l.n%block)
		k, err := io.ReadFull(r, buf[:want])
		l.h.Write(buf[:k])
		l.n += int64(k)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if l.n%block == 0 || l.n == n {
			l.mark()
		}
		alive()
	}
	return nil
}

func (l *ladder) mark() {
	l.sums = append(l.sums, l.h.Sum(nil))
	if l.keep {
		state, _ := l.h.(encoding.BinaryMarshaler).MarshalBinary() // never fails for SHA-256
		l.states = append(l.states, state)
	}
}

// back goes back to an earlier mark, or to the beginning, and reports whether n was one.
func (l *ladder) back(n int64) bool {
	if n == l.n {
		return true
	}
	l.h, l.n = sha256.New(), 0
	if n == 0 {
		return true
	}
	i := blocks(n) - 1
	if n%block != 0 || i >= len(l.states) || l.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(l.states[i]) != nil {
		return false
	}
	l.n = n
	return true
}
