//go:build !linux || !cgo

package app

import "runtime/debug"

func retainFrameMemory() {}

func releaseMemory() { debug.FreeOSMemory() }
