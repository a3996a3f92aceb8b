package mcp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// A call that still waits for the owner after the configured time becomes a question to the person
// at the client, if the client can ask one: go on waiting, or give the call up? Nothing that a
// client sends allows a call: a client is a program that could answer for the person, so that only
// the owner's answer in Fairlead counts. All that an answer can do is to cancel the client's own
// call. The state that travels with the question is the ID of the call, which is looked up among
// the calls of the same token, so that it needs no signature.
//
// A person who goes on waits until the owner has answered, the question expires, or the client
// cancels its request.

// confirmKey names the question among the input requests of a result.
const confirmKey = "owner_has_not_answered"

// question returns the result that asks the person at the client, or nil if the call does not wait
// for the owner or the client cannot ask. The SDK sends it as elicitation/create to clients with a
// session, and calls the tool again with the answer.
func question(r *mcp.CallToolRequest, err error) *mcp.CallToolResult {
	if !isWaiting(err) || len(r.Params.InputResponses) > 0 || !canAsk(r) {
		return nil
	}
	var waiting struct {
		CallID string `json:"call_id"`
	}
	if json.Unmarshal(asFault(err).Details, &waiting) != nil || waiting.CallID == "" {
		return nil
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{confirmKey: &mcp.ElicitParams{
			Mode:            "form",
			Message:         fmt.Sprintf("The call of %s needs the owner's answer in Fairlead. Answer it there, then go on here. To give the call up, decline.", r.Params.Name),
			RequestedSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}},
		}},
		RequestState: waiting.CallID,
	}
}

// canAsk reports whether the client can show a form.
func canAsk(r *mcp.CallToolRequest) bool {
	caps := r.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil // neither: an older client, which has forms
}

// isWaiting reports whether a call still waits for the owner.
func isWaiting(err error) bool {
	return err != nil && asFault(err).Code == protocol.FaultApprovalRequired
}

// isAccepted reports whether the person at the client wants to go on waiting.
func isAccepted(r *mcp.CallToolRequest) bool {
	answer, ok := r.Params.InputResponses[confirmKey].(*mcp.ElicitResult)
	return ok && answer.Action == "accept"
}

// withdrawn returns the call that the person at the client gave up; empty for none.
func withdrawn(r *mcp.CallToolRequest) protocol.CallID {
	if r.Params.InputResponses[confirmKey] == nil || isAccepted(r) {
		return ""
	}
	return protocol.CallID(r.Params.RequestState)
}

func asFault(err error) *protocol.Fault {
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		return f
	}
	return protocol.NewFault(protocol.FaultInternal, "the call failed")
}
