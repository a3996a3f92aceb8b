//go:build !linux && !darwin && !freebsd && !windows

package netinfo

import "fairlead/gateway/protocol"

func routes() ([]Route, error) {
	return nil, protocol.NewFault(protocol.FaultUnsupported, "Fairlead cannot read the routes of this system.")
}
