package feed

import (
	"fairlead/gateway/protocol"
)

// ModelChoice is a model that can be selected for a chat.
type ModelChoice struct {
	Ref  protocol.ModelRef
	Name string
}
