package app

import (
	"encoding/json"

	"fairlead/gateway/protocol"
)

// handleEvent handles events of the gateway outside the feed. It does not block.
func (b *backend) handleEvent(e protocol.EventFrame) {
	var c protocol.FilesChange
	if e.Event == protocol.EventFiles && json.Unmarshal(e.Payload, &c) == nil {
		b.state.FilesChanged(c)
	}
}
