package shell

import "fairlead/gateway/protocol"

// sendSignal fails: Windows has no such signals.
func sendSignal(_ int, name string) error {
	return protocol.NewFault(protocol.FaultInvalidArgs, "Windows has no "+name+": use SIGINT, SIGTERM or SIGKILL")
}
