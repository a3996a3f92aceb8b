// Package tcp reads and writes TCP connections without telling Go's scheduler, where the system is Linux.
//
// The scheduler is told of every system call, for it may wait: when one takes longer than some microseconds, the goroutine's turn is given to another
// thread, which is woken for that. A call of a socket that does not block never waits, but over loopback it does the peer's half of the work too and takes
// that long; the thread finds nothing to do, and the goroutine must look for a turn again. Without it a gibibyte through a gateway takes about
// a tenth less processor time.
package tcp
