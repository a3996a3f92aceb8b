package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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
// cancels its request. One who declines gives the call up. Without an answer, because the person
// closed the question or the client could not ask it, the result is approval_required with the ID.

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
	if json.Unmarshal(protocol.AsFault(err).Details, &waiting) != nil || waiting.CallID == "" {
		return nil
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{confirmKey: &mcp.ElicitParams{
			Mode:            "form",
			Message:         fmt.Sprintf("The call of %s needs the owner's answer in Fairlead. Answer it there, then go on here. To give the call up, decline.", r.Params.Name),
			RequestedSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}},
		}},
		RequestState: string(protocol.AsFault(err).Details),
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
	return err != nil && protocol.AsFault(err).Code == protocol.FaultApprovalRequired
}

// isAccepted reports whether the person at the client wants to go on waiting.
func isAccepted(r *mcp.CallToolRequest) bool {
	answer, ok := r.Params.InputResponses[confirmKey].(*mcp.ElicitResult)
	return ok && answer.Action == "accept"
}

// withdrawn returns the call that the person at the client gave up; empty for none.
func withdrawn(r *mcp.CallToolRequest) protocol.CallID {
	var waiting struct {
		CallID protocol.CallID `json:"call_id"`
	}
	if answer, ok := r.Params.InputResponses[confirmKey].(*mcp.ElicitResult); ok && answer.Action == "decline" {
		json.Unmarshal([]byte(r.Params.RequestState), &waiting) // a state of nobody is the ID of no call
	}
	return waiting.CallID
}

// unansweredFault returns the failure of a call whose question at the client was closed without an
// answer, and nil for any other call. The call goes on waiting for the owner.
func unansweredFault(r *mcp.CallToolRequest) *protocol.Fault {
	if r.Params.InputResponses[confirmKey] == nil || isAccepted(r) || withdrawn(r) != "" {
		return nil
	}
	f := protocol.NewFault(protocol.FaultApprovalRequired, "Fairlead's owner has not answered yet. Repeat the same call, or ask for its outcome, to go on.")
	if json.Valid([]byte(r.Params.RequestState)) {
		f.Details = json.RawMessage(r.Params.RequestState)
	}
	return f
}

// askTime is how long the person at the client has for an answer.
const askTime = time.Minute

// askBriefly makes a question that gets no answer in askTime, or that the client cannot show, one
// that was closed without an answer: otherwise the call would fail with it, or never end.
func askBriefly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "elicitation/create" {
			return next(ctx, method, r)
		}
		limited, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		out, err := next(limited, method, r)
		if err != nil && ctx.Err() == nil {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}
		return out, err
	}
}
