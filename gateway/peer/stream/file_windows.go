package stream

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const nonblock = 0

func freeSpace(dir *os.Root) int64 {
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

func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || isQuotaError(err)
}

func isQuotaError(err error) bool { return errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) }

// identity returns the identity of a file's content.
func identity(f *os.File) (id fileIdentity) {
	raw, err := f.SyscallConn()
	if err != nil {
		return id
	}
	var info windows.ByHandleFileInformation
	var times struct { // FILE_BASIC_INFO
		creation, access, write, change int64
		attributes, _                   uint32
	}
	ctlErr := raw.Control(func(fd uintptr) {
		if err = windows.GetFileInformationByHandle(windows.Handle(fd), &info); err == nil {
			err = windows.GetFileInformationByHandleEx(windows.Handle(fd), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&times)), uint32(unsafe.Sizeof(times)))
		}
	})
	if ctlErr != nil || err != nil {
		return id
	}
	id.content = fmt.Sprintf("%x %x %x %x %x %x %x", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow, info.FileSizeHigh, info.FileSizeLow, times.write, times.change)
	ft := windows.Filetime{LowDateTime: uint32(times.change), HighDateTime: uint32(times.change >> 32)}
	id.age = time.Since(time.Unix(0, ft.Nanoseconds()))
	return id
}
