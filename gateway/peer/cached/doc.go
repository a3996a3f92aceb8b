// Package cached reads files without telling Go's scheduler while the system has them in memory.
//
// A read that may wait for a disk has to be announced to the scheduler, which then gives the goroutine's turn to another thread when it takes longer than
// some microseconds. Copying a hundred kilobytes from memory takes longer than that and waits for nothing: with large files the changes of threads
// were a tenth of the work. The system is asked to read only what needs no waiting (RWF_NOWAIT); where it cannot, or would have to wait, the read
// is an ordinary one.
package cached
