//go:build unix && (!linux || race)

package tcp

import "syscall"

// Other systems make the calls through their own library. These calls tell the race detector the
// order of events between both sides of a connection within one process.

func read(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

func write(fd uintptr, b []byte) (int, error) {
	n, err := syscall.Write(int(fd), b)
	return max(n, 0), err
}
