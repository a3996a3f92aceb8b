package stream

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"fairlead/gateway/peer/format"
)

const nonblock = 0

func FreeSpace(dir *os.Root) int64 {
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

// isTooLarge reports whether a file is larger than its file system allows.
func isTooLarge(err error) bool { return errors.Is(err, windows.ERROR_FILE_TOO_LARGE) }

// isUnsupported reports whether a file system does not support symbolic links, or the user may not
// create any.
func isUnsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

// nameError returns the reason why a disk refused to create a file, for people.
func nameError(err error) error {
	switch {
	case errors.Is(err, windows.ERROR_INVALID_NAME):
		return fmt.Errorf("the disk does not allow the name (%w)", format.WithoutPath(err))
	case errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE):
		return fmt.Errorf("the name is too long for the disk (%w)", format.WithoutPath(err))
	case errors.Is(err, windows.ERROR_WRITE_PROTECT):
		return fmt.Errorf("the disk is read-only (%w)", format.WithoutPath(err))
	}
	return format.WithoutPath(err)
}

func isQuotaError(err error) bool { return errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) }

// identity returns the identity of a file's content.
func identity(f *os.File) (id fileIdentity) {
	var info windows.ByHandleFileInformation
	var times struct { // FILE_BASIC_INFO
		creation, access, write, change int64
		attributes, _                   uint32
	}
	err := withDescriptor(f, func(fd uintptr) error {
		if err := windows.GetFileInformationByHandle(windows.Handle(fd), &info); err != nil {
			return err
		}
		return windows.GetFileInformationByHandleEx(windows.Handle(fd), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&times)), uint32(unsafe.Sizeof(times)))
	})
	if err != nil {
		return id
	}
	id.content = fmt.Sprintf("%x %x %x %x %x %x %x", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow, info.FileSizeHigh, info.FileSizeLow, times.write, times.change)
	ft := windows.Filetime{LowDateTime: uint32(times.change), HighDateTime: uint32(times.change >> 32)}
	id.age = time.Since(time.Unix(0, ft.Nanoseconds()))
	return id
}

// isSparse reports whether a file may have holes.
func isSparse(info os.FileInfo) bool {
	d, ok := info.Sys().(*syscall.Win32FileAttributeData)
	return ok && d.FileAttributes&windows.FILE_ATTRIBUTE_SPARSE_FILE != 0
}

// ranges is FILE_ALLOCATED_RANGE_BUFFER.
type ranges struct{ offset, length int64 }

// next returns the first range with data at or after an offset. Its length is 0 if none exists.
// ok is false if the system cannot tell.
func next(f *os.File, at, size int64) (r ranges, ok bool) {
	from := ranges{at, size - at}
	var n uint32
	err := withDescriptor(f, func(fd uintptr) error {
		return windows.DeviceIoControl(windows.Handle(fd), windows.FSCTL_QUERY_ALLOCATED_RANGES, (*byte)(unsafe.Pointer(&from)), uint32(unsafe.Sizeof(from)),
			(*byte)(unsafe.Pointer(&r)), uint32(unsafe.Sizeof(r)), &n, nil)
	})
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return ranges{}, false
	}
	return r, n == 0 || r.offset >= 0 && r.length > 0
}

// holeLength returns the length in bytes of the hole at an offset; 0 if there is data, or if the
// system cannot tell.
func holeLength(f *os.File, at, size int64) int64 {
	r, ok := next(f, at, size)
	switch {
	case !ok:
		return 0
	case r.length == 0:
		return size - at
	}
	return max(min(r.offset, size)-at, 0)
}

// dataEnd returns the end of the data at an offset.
func dataEnd(f *os.File, at, size int64) int64 {
	r, ok := next(f, at, size)
	if !ok || r.length == 0 || r.offset > at {
		return size
	}
	return min(r.offset+r.length, size)
}

// allowHoles allows holes in a file, if its disk supports them; otherwise they become zeros on the
// disk.
func allowHoles(f *os.File) {
	withDescriptor(f, func(fd uintptr) error {
		var n uint32
		return windows.DeviceIoControl(windows.Handle(fd), windows.FSCTL_SET_SPARSE, nil, 0, nil, 0, &n, nil)
	})
}
