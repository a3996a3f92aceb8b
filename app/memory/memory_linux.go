//go:build linux && cgo

package memory

/*
#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>
// 32 MB is the largest threshold of glibc; a picture of a large screen is about as large.
static void retain(void) { mallopt(M_MMAP_THRESHOLD, 32 << 20); mallopt(M_TRIM_THRESHOLD, 64 << 20); }
static void trim(void) { malloc_trim(0); }
#else
static void retain(void) {}
static void trim(void) {}
#endif
*/
import "C"

import (
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// Retain makes the C library retain up to 64 MB of free memory. Without a graphics
// processor, the graphics driver allocates and frees pictures of some megabytes in every frame; the
// system zeroed their pages each time, which took 5 to 13 of the 33 ms of a frame. It is called
// before the first window is created.
func Retain() { C.retain() }

// Release returns unused memory to the system. It takes some 0.1 s of processor time.
func Release() {
	runtime.GC() // only the second collection frees what pools hold
	debug.FreeOSMemory()
	C.trim()
}

// ProcessorTime returns the processor time that the program has used.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
