package approval

import (
	"encoding/json"

	"fairlead/gateway/protocol"
)

// Canonical calls protocol.Canonical.
func Canonical(raw json.RawMessage) (json.RawMessage, error) { return protocol.Canonical(raw) }

// Hash returns the hash of everything that identifies the call, see protocol.CallHash.
func Hash(a protocol.Approval) (string, error) {
	return protocol.CallHash(a.Kind, a.Node, a.Tool, a.Args, a.Preview, a.Policy)
}
