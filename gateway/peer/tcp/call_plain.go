//go:build unix && (!linux || race)

package tcp

import "syscall"

// On other systems their own library makes the calls. The race detector learns from these two what orders the ends of a connection within one process.

func read(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

func write(fd uintptr, b []byte) (int, error) {
	n, err := syscall.Write(int(fd), b)
	return max(n, 0), err
}
