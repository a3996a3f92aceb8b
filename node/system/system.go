// Package system describes a node's machine to programs: its distribution, version, processor, and
// whether it is a virtual machine or a container.
package system

import "strings"

// guests are the virtual machines that the maker and the product of a machine's board name.
var guests = []struct{ text, name string }{
	{"vmware", "vmware"},
	{"virtualbox", "vbox"},
	{"innotek", "vbox"},
	{"parallels", "parallels"},
	{"xen", "xen"},
	{"bhyve", "bhyve"},
	{"microsoft corporation virtual machine", "hyperv"},
	{"apple virtualization", "apple"},
	{"virtualmac", "apple"},
	{"google compute engine", "kvm"},
	{"amazon ec2", "kvm"},
	{"openstack", "kvm"},
	{"droplet", "kvm"},
	{"vserver", "kvm"},
	{"qemu", "kvm"},
	{"kvm", "kvm"},
}

// guestOf returns the role of a machine with this maker and product; empty for a real machine.
func guestOf(board string) string {
	board = strings.ToLower(strings.Join(strings.Fields(board), " "))
	if strings.Contains(board, ".metal") { // a whole machine of Amazon
		return ""
	}
	for _, g := range guests {
		if strings.Contains(board, g.text) {
			return g.name + "/guest"
		}
	}
	return ""
}
