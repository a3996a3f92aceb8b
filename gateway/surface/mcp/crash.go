package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
)

// recoverCalls makes a panic while a message is handled the failure of this message. The SDK
// handles each one on a goroutine of its own, where a panic would end the process and with it the
// sessions of all other clients.
func recoverCalls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (out mcp.Result, err error) {
		work := method
		if call, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok {
			work += " " + call.Name
		}
		defer crash.Recover(&err, work)
		return next(ctx, method, r)
	}
}
