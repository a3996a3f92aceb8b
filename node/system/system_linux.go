package system

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fairlead/gateway/protocol"
)

// Describe describes this machine.
func Describe() protocol.HostSystem {
	s := describe("/")
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		s.KernelArch = unix.ByteSliceToString(u.Machine[:])
	}
	return s
}

// describe describes the machine whose files are below root.
func describe(root string) protocol.HostSystem {
	s := protocol.HostSystem{Platform: "linux", Virtualization: virtualization(root)}
	text := read(root, "etc/os-release")
	if text == "" {
		text = read(root, "usr/lib/os-release")
	}
	for line := range strings.Lines(text) { // os-release(5)
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.Trim(value, `"'`); {
		case key == "ID" && value != "":
			s.Platform = value
		case key == "VERSION_ID":
			s.PlatformVersion = value
		}
	}
	return s
}

// read returns a small file; empty if it cannot be read.
func read(root, name string) string {
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	return string(data)
}

func exists(root, name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// virtualization returns the machine's system and role, such as docker/guest or kvm/host; empty for
// a real machine without virtual ones.
func virtualization(root string) string {
	if name := container(root); name != "" {
		return name + "/guest"
	}
	if strings.Contains(read(root, "proc/xen/capabilities"), "control_d") {
		return "xen/host"
	}
	if role := guestOf(read(root, "sys/class/dmi/id/sys_vendor") + " " + read(root, "sys/class/dmi/id/product_name") + " " + read(root, "sys/hypervisor/type")); role != "" {
		return role
	}
	for line := range strings.Lines(read(root, "proc/cpuinfo")) {
		if name, flags, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "flags" && slices.Contains(strings.Fields(flags), "hypervisor") {
			return "vm/guest"
		}
	}
	switch {
	case exists(root, "dev/kvm"):
		return "kvm/host"
	case strings.Contains(read(root, "proc/modules"), "vboxdrv "):
		return "vbox/host"
	}
	return ""
}

// container returns the kind of container in which this program runs; empty for none.
func container(root string) string {
	switch {
	case exists(root, ".dockerenv"):
		return "docker"
	case exists(root, "run/.containerenv"):
		return "podman"
	}
	if name, _, _ := strings.Cut(read(root, "run/systemd/container"), "\n"); name != "" {
		return name
	}
	groups := read(root, "proc/1/cgroup")
	for _, kind := range []string{"kubepods", "docker", "lxc"} {
		if strings.Contains(groups, kind) {
			return strings.Replace(kind, "kubepods", "kubernetes", 1)
		}
	}
	if strings.Contains(strings.ToLower(read(root, "proc/sys/kernel/osrelease")), "microsoft") {
		return "wsl"
	}
	return ""
}
