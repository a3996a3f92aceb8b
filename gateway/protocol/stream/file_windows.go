package stream

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const nonblock = 0

func sparse(os.FileInfo) bool { return false }

func free(dir *os.Root) int64 {
	name, err := windows.UTF16PtrFromString(dir.Name())
	if err != nil {
		return -1
	}
	var n uint64
	if windows.GetDiskFreeSpaceEx(name, &n, nil, nil) != nil {
		return -1
	}
	return int64(n)
}

func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func gap(*os.File, int64, int64) int64 { return 0 }
