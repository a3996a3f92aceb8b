// Package cached reads files that are in the system's page cache without notifying Go's scheduler.
//
// A read that may block has to be announced to the scheduler, which hands the processor to another
// thread when the read takes more than some microseconds. Copying a hundred kilobytes from memory
// takes longer than that but never blocks; with large files, these thread switches were a tenth of
// the work. The package asks the kernel to read only cached data (RWF_NOWAIT). Where the kernel
// cannot, or would block, an ordinary read follows.
package cached
