package system

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"fairlead/gateway/protocol"
)

// Describe describes this machine.
func Describe() protocol.HostSystem {
	v := windows.RtlGetVersion()
	s := protocol.HostSystem{Platform: "windows", PlatformVersion: fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber), KernelArch: runtime.GOARCH}
	if s.KernelArch == "amd64" {
		s.KernelArch = "x86_64"
	}
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\BIOS`, registry.QUERY_VALUE)
	if err != nil {
		return s
	}
	defer k.Close()
	maker, _, _ := k.GetStringValue("SystemManufacturer") // empty if it is missing
	product, _, _ := k.GetStringValue("SystemProductName")
	s.Virtualization = guestOf(maker + " " + product)
	return s
}
