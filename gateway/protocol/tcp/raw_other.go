//go:build unix && !linux

package tcp

import "syscall"

// Here reading and waiting is left to package net: the system's own library makes the calls.

func read(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

func write(fd uintptr, b []byte) (int, error) {
	n, err := syscall.Write(int(fd), b)
	return max(n, 0), err
}
