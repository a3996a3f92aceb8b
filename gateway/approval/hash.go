package approval

import (
	"encoding/json"

	"fairlead/gateway/protocol"
)

// Canonical is protocol.Canonical.
func Canonical(raw json.RawMessage) (json.RawMessage, error) { return protocol.Canonical(raw) }

// Hash is over everything that makes the call what it is: see protocol.CallHash.
func Hash(a protocol.Approval) (string, error) {
	return protocol.CallHash(a.Kind, a.Node, a.Tool, a.Args, a.Preview, a.Policy)
}
