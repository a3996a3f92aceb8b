package approval

import "fairlead/gateway/protocol"

// Hash returns the hash of everything that identifies the call, see protocol.CallHash.
func Hash(a protocol.Approval) (string, error) {
	return protocol.CallHash(a.Kind, a.Node, a.Tool, a.Args, a.Preview, a.Policy)
}
