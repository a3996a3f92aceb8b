package system

import (
	"golang.org/x/sys/unix"

	"fairlead/gateway/protocol"
)

// Describe describes this machine.
func Describe() protocol.HostSystem {
	s := protocol.HostSystem{Platform: "darwin"}
	s.PlatformVersion, _ = unix.Sysctl("kern.osproductversion")
	s.KernelArch, _ = unix.Sysctl("hw.machine")
	if n, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil && n != 0 {
		model, _ := unix.Sysctl("hw.model")
		if s.Virtualization = guestOf(model); s.Virtualization == "" {
			s.Virtualization = "vm/guest"
		}
	}
	return s
}
