//go:build !unix

package tcp

import "net"

// Wrap returns c: this system cannot say what it takes at once.
func Wrap(c net.Conn) net.Conn { return c }
