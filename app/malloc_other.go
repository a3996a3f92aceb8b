//go:build !linux || !cgo

package app

import (
	"runtime/debug"
	"time"
)

func retainFrameMemory() {}

func releaseMemory() { debug.FreeOSMemory() }

func processorTime() time.Duration { return 0 }
