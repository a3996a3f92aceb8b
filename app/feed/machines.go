package feed

import (
	"cmp"
	"slices"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// MachineList is a list of machines.
type MachineList []protocol.NodeInfo

// Local finds the machine that runs in the gateway's own process.
func (l MachineList) Local() (protocol.NodeInfo, bool) {
	return lists.Find(l, func(n protocol.NodeInfo) bool { return n.Local })
}

// Find finds a machine.
func (l MachineList) Find(id protocol.NodeID) (protocol.NodeInfo, bool) {
	return lists.Find(l, func(n protocol.NodeInfo) bool { return n.ID == id })
}

// Name returns the display name of a machine ID, even if the machine no longer exists.
func (l MachineList) Name(id protocol.NodeID) string {
	if n, ok := l.Find(id); ok {
		return n.DisplayName()
	}
	return string(id)
}

func sortedMachines(list []protocol.NodeInfo) MachineList {
	return slices.SortedStableFunc(slices.Values(list), byPresence)
}

func (l MachineList) with(n protocol.NodeInfo) MachineList {
	return sortedMachines(lists.Replace(l, n, func(x protocol.NodeInfo) bool { return x.ID == n.ID }))
}

func (l MachineList) without(id protocol.NodeID) MachineList {
	return lists.Without(l, func(n protocol.NodeInfo) bool { return n.ID == id })
}

// byPresence puts the gateway's own machine first, then those that are online.
func byPresence(a, b protocol.NodeInfo) int {
	return cmp.Or(lists.TrueFirst(a.Local, b.Local), lists.TrueFirst(a.Online, b.Online), cmp.Compare(a.ID, b.ID))
}
