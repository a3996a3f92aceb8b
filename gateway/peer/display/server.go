package display

import "fairlead/gateway/protocol"

// ServerNetwork says whether the command of an MCP server may use the network; empty for a server at an
// address.
func ServerNetwork(s protocol.ServerSpec) string {
	switch {
	case s.Command == "":
		return ""
	case s.Network == protocol.ServerNetworkNo:
		return "no network"
	case s.Network == protocol.ServerNetworkFetch:
		return "network only to fetch its package"
	}
	return "may use the network"
}
