package system

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestMachineIsDescribedByItsFiles(t *testing.T) {
	const debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\nID_LIKE=x\n"
	board := func(maker, product string) map[string]string {
		return map[string]string{"sys/class/dmi/id/sys_vendor": maker + "\n", "sys/class/dmi/id/product_name": product + "\n"}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  protocol.HostSystem
	}{
		"nothing":            {nil, protocol.HostSystem{Platform: "linux"}},
		"distribution":       {map[string]string{"etc/os-release": debian}, protocol.HostSystem{Platform: "debian", PlatformVersion: "12"}},
		"without /etc":       {map[string]string{"usr/lib/os-release": "ID='openwrt'\n"}, protocol.HostSystem{Platform: "openwrt"}},
		"Docker":             {map[string]string{".dockerenv": "", "dev/kvm": ""}, role("docker/guest")},
		"Podman":             {map[string]string{"run/.containerenv": ""}, role("podman/guest")},
		"systemd":            {map[string]string{"run/systemd/container": "systemd-nspawn\n"}, role("systemd-nspawn/guest")},
		"Kubernetes":         {map[string]string{"proc/1/cgroup": "0::/kubepods.slice/x\n"}, role("kubernetes/guest")},
		"LXC":                {map[string]string{"proc/1/cgroup": "1:name=systemd:/lxc/x\n"}, role("lxc/guest")},
		"WSL":                {map[string]string{"proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"}, role("wsl/guest")},
		"QEMU":               {board("QEMU", "Standard PC"), role("kvm/guest")},
		"VMware":             {board("VMware, Inc.", "VMware Virtual Platform"), role("vmware/guest")},
		"Hyper-V":            {board("Microsoft Corporation", "Virtual Machine"), role("hyperv/guest")},
		"a Surface":          {board("Microsoft Corporation", "Surface Pro"), role("")},
		"Amazon":             {board("Amazon EC2", "t3.micro"), role("kvm/guest")},
		"a machine of it":    {board("Amazon EC2", "m5.metal"), role("")},
		"Xen":                {map[string]string{"sys/hypervisor/type": "xen\n"}, role("xen/guest")},
		"host of Xen":        {map[string]string{"sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n"}, role("xen/host")},
		"unknown hypervisor": {map[string]string{"proc/cpuinfo": "flags\t\t: fpu hypervisor\n", "dev/kvm": ""}, role("vm/guest")},
		"host":               {map[string]string{"dev/kvm": "", "proc/cpuinfo": "flags\t\t: fpu vmx\n"}, role("kvm/host")},
		"host of VirtualBox": {map[string]string{"proc/modules": "vboxdrv 1 0\n"}, role("vbox/host")},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := describe(root); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func role(text string) protocol.HostSystem {
	return protocol.HostSystem{Platform: "linux", Virtualization: text}
}

func TestProcessorIsThatOfTheKernel(t *testing.T) {
	out, err := exec.Command("uname", "-m").Output()
	if err != nil {
		t.Skip("there is no uname")
	}
	if got := Describe().KernelArch; got != strings.TrimSpace(string(out)) {
		t.Errorf("got %q, want %s", got, out)
	}
}
