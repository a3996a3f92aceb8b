package node

import (
	"context"
	"errors"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
)

// errorText returns the text of an error for the gateway. It is never empty, because an empty error
// would read as success.
func errorText(err error) string {
	if errors.Is(err, context.Canceled) {
		return "The call was cancelled."
	}
	if s := err.Error(); s != "" {
		return toolkit.Brief(s)
	}
	return "The tool failed without a reason."
}

// crashError is a panic of a tool. The panic's value may hold arguments, so it is not reported.
type crashError struct{ stack []byte }

func (*crashError) Error() string {
	return "The tool crashed because of an error in Fairlead. Its effects until then are unknown."
}

// Unwrap returns the fault, which is not retryable: the call may have had effects.
func (e *crashError) Unwrap() error {
	return &protocol.Fault{Code: protocol.FaultInternal, Message: e.Error()}
}
