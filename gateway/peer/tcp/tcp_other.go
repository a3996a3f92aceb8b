//go:build !unix

package tcp

import "net"

// Wrap returns c unchanged: this system cannot write without blocking.
func Wrap(c net.Conn) net.Conn { return c }
