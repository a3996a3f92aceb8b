//go:build unix

package stream

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// seekData and seekHole are SEEK_DATA and SEEK_HOLE. A system without them returns an error.
var seekData, seekHole = 3, 4

func init() {
	if runtime.GOOS == "darwin" {
		seekData, seekHole = 4, 3
	}
}

// isSparse reports whether a file has enough holes to look for them.
func isSparse(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Blocks)*512 < info.Size()-(1<<20)
}

// holeLength returns the length in bytes of the hole at an offset; 0 if there is data, or if the
// system cannot tell. It moves the file's offset.
func holeLength(f *os.File, at, size int64) int64 {
	data, err := f.Seek(at, seekData)
	switch {
	case errors.Is(err, syscall.ENXIO):
		return size - at
	case err != nil:
		return 0
	}
	return min(data, size) - at
}

// dataEnd returns the end of the data at an offset. It moves the file's offset.
func dataEnd(f *os.File, at, size int64) int64 {
	end, err := f.Seek(at, seekHole)
	if err != nil {
		return size
	}
	return min(end, size)
}

// allowHoles does nothing: files can always have holes here.
func allowHoles(*os.File) {}
