//go:build !linux || !cgo

package memory

import (
	"runtime/debug"
	"time"
)

func Retain() {}

func Release() { debug.FreeOSMemory() }

func ProcessorTime() time.Duration { return 0 }
