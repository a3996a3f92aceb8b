package main

import (
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// checkMachines puts the IDs of machines in the place of their names. The error says that no machine
// has a name, or how to wait for one that is offline. If that cannot be determined, the gateway decides.
func checkMachines(ctx context.Context, c *connection, p *protocol.TransferStartParams) error {
	nodes, err := machinesOf(c).list(ctx)
	if err != nil {
		return nil
	}
	ends := []*string{&p.Destination}
	for i := range p.Sources {
		ends = append(ends, &p.Sources[i])
	}
	for _, end := range ends {
		name, path, _ := strings.Cut(*end, ":")
		if name == string(protocol.Here) || name == string(protocol.NativePrefix) || name == "" {
			continue
		}
		machine, ok := findMachine(nodes, name)
		switch {
		case !ok:
			there := "; no machine is paired"
			var names []string
			for _, n := range nodes {
				names = append(names, n.DisplayName())
			}
			if len(names) > 0 {
				there = ". Machines: " + strings.Join(names, ", ")
			}
			return usageError("no machine is named %q%s", name, there)
		case !machine.Online && !p.Later:
			return protocol.ErrUnavailable.With(fmt.Sprintf("%s is offline. To send when it connects, add --later 24h", name))
		}
		*end = string(machine.ID) + ":" + path
	}
	return nil
}

// findMachine returns the machine with an ID or, if none has it, the only one with a name.
func findMachine(nodes []protocol.NodeInfo, name string) (found protocol.NodeInfo, ok bool) {
	for _, n := range nodes {
		if string(n.ID) == name {
			return n, true
		}
	}
	for _, n := range nodes {
		if strings.EqualFold(n.Name, name) {
			if ok {
				return found, false
			}
			found, ok = n, true
		}
	}
	return found, ok
}

// id returns the ID of the machine that the person calls name; name itself if none is found,
// for which the gateway answers, or if the gateway knows no names.
func (m machines) id(ctx context.Context, name string) protocol.NodeID {
	if !m.c.offers(protocol.NodesList.Name) {
		return protocol.NodeID(name)
	}
	if nodes, err := m.list(ctx); err == nil && name != "" {
		if machine, ok := findMachine(nodes, name); ok {
			return machine.ID
		}
	}
	return protocol.NodeID(name)
}
