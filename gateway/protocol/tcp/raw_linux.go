package tcp

import (
	"io"
	"syscall"
	"unsafe"
)

// Read is as [net.Conn] has it.
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s := &c.in
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b, s.n, s.err = b, 0, nil
	err := s.raw.Read(s.f)
	s.b = nil
	switch {
	case s.err != nil:
		err = c.failed("read", s.err)
	case err == nil && s.n == 0:
		err = io.EOF
	}
	return s.n, err
}

// Write is as [net.Conn] has it.
func (c *Conn) Write(b []byte) (int, error) { return c.write(b, true) }

// read and write are to be given a socket that does not block, and something to read into or write.

func read(fd uintptr, b []byte) (int, error) { return call(syscall.SYS_READ, fd, b) }

func write(fd uintptr, b []byte) (int, error) { return call(syscall.SYS_WRITE, fd, b) }

func call(number, fd uintptr, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
