package shell

import (
	"fairlead/gateway/peer/toolkit"
	"fairlead/node/sandbox"
)

// checkNetwork checks whether a command may use the network it requests; granted says that the person
// allowed it for this call. Where the system cannot block the network, a command that appears to
// use it without requesting it is refused.
func (t *Jobs) checkNetwork(in bashIn, granted bool) error {
	switch {
	case t.opts.Box == nil || t.opts.Profile.Mode == sandbox.Full || t.opts.Profile.Network == sandbox.NetAllowed:
		return nil
	case !in.Network && t.opts.Box.Report().BlocksNetwork():
		return nil
	case !in.Network:
		return checkNetworkWords(Path(), in.Command)
	case !t.opts.AskNetwork:
		return toolkit.Failf("The network is blocked for commands on this machine. The person can start its node with --network ask or --network allowed.")
	case !granted:
		return toolkit.Failf("The network was not allowed for this command.")
	}
	return nil
}
