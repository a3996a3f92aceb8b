//go:build !linux && !darwin && !windows

package system

import (
	"runtime"

	"fairlead/gateway/protocol"
)

// Describe describes this machine.
func Describe() protocol.HostSystem {
	return protocol.HostSystem{Platform: runtime.GOOS, KernelArch: runtime.GOARCH}
}
