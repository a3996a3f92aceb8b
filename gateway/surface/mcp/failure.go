package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// answerFailures makes every failure of a handler, also a panic, an error of JSON-RPC with a code.
// The SDK handles each message on a goroutine of its own, where a panic would end the process and
// with it the sessions of all other clients.
func answerFailures(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (out mcp.Result, err error) {
		work := method
		if call, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok {
			work += " " + call.Name
		}
		defer func() {
			if err != nil {
				out, err = nil, asError(method, err)
			}
		}()
		defer crash.Recover(&err, work)
		return next(ctx, method, r)
	}
}

// codeServerError is the code of failures that are not about the message itself.
const codeServerError = -32000

// asError returns a failure as an error of JSON-RPC.
func asError(method string, err error) error {
	if inner, ok := errors.AsType[*jsonrpc.Error](err); ok && inner.Code != 0 {
		// The relay gets the gateway's errors with a prefix of the SDK's client.
		message := strings.TrimPrefix(err.Error(), fmt.Sprintf("calling %q: ", method))
		if strings.HasPrefix(message, fmt.Sprintf("sending %q: ", method)) { // with a status of HTTP
			message = inner.Message
		}
		if message == "invalid params" { // the SDK's only text for a cursor
			message = "cursor is not one of this server: begin again without it"
		}
		out := &jsonrpc.Error{Code: inner.Code, Message: message, Data: inner.Data}
		if !json.Valid(out.Data) { // the SDK quotes addresses of resources for Go, not for JSON
			out.Data = nil
		}
		return out
	}
	out := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		if out.Code = codeServerError; fault.Code == protocol.FaultInvalidArgs || fault.Code == protocol.FaultNotFound {
			out.Code = jsonrpc.CodeInvalidParams
		}
		out.Data, _ = protocol.Marshal(fault)
	}
	return out
}
