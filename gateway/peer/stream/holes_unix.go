//go:build unix

package stream

import (
	"errors"
	"os"
	"syscall"
)

// sparse reports whether a file has holes that are worth to be looked for.
func sparse(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Blocks)*512 < info.Size()-(1<<20)
}

// gap is how many bytes of a hole there are at an offset; 0 where there is data, or where the system cannot say. It moves the file's position.
func gap(f *os.File, at, size int64) int64 {
	data, err := f.Seek(at, seekData)
	switch {
	case errors.Is(err, syscall.ENXIO):
		return size - at
	case err != nil:
		return 0
	}
	return min(data, size) - at
}

// extent is where the data at an offset ends. It moves the file's position.
func extent(f *os.File, at, size int64) int64 {
	end, err := f.Seek(at, seekHole)
	if err != nil {
		return size
	}
	return min(end, size)
}

// makeHoles lets a file have holes, which it always does here.
func makeHoles(*os.File) {}
