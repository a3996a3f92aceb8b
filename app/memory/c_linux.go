//go:build linux && cgo

package memory

/*
#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>
// The largest threshold that glibc takes is 32 MB; a picture of a whole large screen is about as large.
static void keep(void) { mallopt(M_MMAP_THRESHOLD, 32 << 20); mallopt(M_TRIM_THRESHOLD, 64 << 20); }
static void trim(void) { malloc_trim(0); }
#else
static void keep(void) {}
static void trim(void) {}
#endif
*/
import "C"

// keep makes the C library retain up to 64 MB of free memory.
func keep() { C.keep() }

// trim returns free memory of C, which includes that of the graphics driver.
func trim() { C.trim() }
