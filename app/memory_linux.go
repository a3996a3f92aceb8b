//go:build linux && cgo

package app

/*
#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

// trim returns free memory of C, where the graphics driver's is.
func trim() { C.trim() }
