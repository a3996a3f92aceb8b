package stream

import (
	"context"
	"encoding/binary"
	"io"
	"os"
)

// lookEvery is the number of bytes after which a file with holes is searched for the next hole.
const lookEvery = 1 << 20

// maxRun is the maximum number of zeros in one hole record.
const maxRun = 1 << 30

// sendZeros sends a hole in parts, because hashing zeros takes time too.
func (s *Sender) sendZeros(ctx context.Context, sum *hasher, n int64) error {
	for n > 0 {
		part := min(n, 256<<20)
		n -= part
		for left := part; left > 0; {
			k := min(left, int64(len(zeros)))
			sum.add(zeros[:k])
			left -= k
		}
		if err := s.sendHole(ctx, &part); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sender) sendHole(ctx context.Context, run *int64) error {
	n := *run
	*run = 0
	if err := s.packer.add(ctx, recHole, binary.LittleEndian.AppendUint64(nil, uint64(n))); err != nil {
		return err
	}
	return s.packer.flush(ctx)
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

// sendHoleHere sends the hole at the current offset of the file, if there is one, and continues
// after it. It returns the hole's length.
func (s *Sender) sendHoleHere(ctx context.Context, file *os.File, sum *hasher, size int64) (int64, error) {
	n := holeLength(file, sum.n, size)
	if n > 0 {
		if err := s.sendZeros(ctx, sum, n); err != nil {
			return n, err
		}
	}
	if _, err := file.Seek(sum.n, io.SeekStart); err != nil {
		return n, &fileError{withoutPath(err)}
	}
	return n, nil
}
