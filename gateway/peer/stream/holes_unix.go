//go:build unix

package stream

import (
	"errors"
	"os"
	"syscall"
)

// sparse reports whether a file has enough holes to look for them.
func sparse(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Blocks)*512 < info.Size()-(1<<20)
}

// gap returns the length in bytes of the hole at an offset; 0 if there is data, or if the system
// cannot tell. It moves the file's offset.
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

// extent returns the end of the data at an offset. It moves the file's offset.
func extent(f *os.File, at, size int64) int64 {
	end, err := f.Seek(at, seekHole)
	if err != nil {
		return size
	}
	return min(end, size)
}

// makeHoles does nothing: files can always have holes here.
func makeHoles(*os.File) {}
