package system

import (
	"errors"
	"io/fs"
	"runtime"
	"syscall"
)

// fileError is an error of a file in words for the person.
type fileError struct {
	text  string
	cause error
}

func (e *fileError) Error() string { return e.text }
func (e *fileError) Unwrap() error { return e.cause }

// FileProblem explains to the person why a file cannot be read or written.
func FileProblem(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fileError{"it no longer exists", err}
	case errors.Is(err, fs.ErrPermission):
		return &fileError{"you have no permission for it", err}
	case IsErrno(err, syscall.EROFS, 19): // ERROR_WRITE_PROTECT
		return &fileError{"the disk is read-only", err}
	case IsErrno(err, syscall.ENOSPC, 112), IsErrno(err, syscall.EDQUOT, 39): // ERROR_DISK_FULL, ERROR_HANDLE_DISK_FULL
		return &fileError{"the disk is full", err}
	}
	return err
}

// IsErrno reports whether err is an error of the system: one number on Unix, another on Windows.
func IsErrno(err error, unix, windows syscall.Errno) bool {
	if runtime.GOOS == "windows" {
		return errors.Is(err, windows)
	}
	return errors.Is(err, unix)
}
