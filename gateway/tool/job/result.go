package job

import (
	"context"
	"encoding/json"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Request is a call of a program.
type Request struct {
	Caller auth.Principal
	Tool   string
	Args   json.RawMessage
	// Key, if set, is an idempotency key: a repeated call of the same caller returns the first one's
	// result.
	Key      string
	Need     []protocol.Scope // all of them
	IsStream bool             // it counts as a running stream
	// Machine returns the machine of the call, for limits; empty if it has none.
	Machine func() protocol.NodeID
	// Emit, if set, gets the parts of the call in order, one at a time. The call waits for it; its
	// error, such as that of a closed connection, ends the call.
	Emit func(ctx context.Context, p Part) error
}

// Result is the outcome of a call that succeeded.
type Result struct {
	Data    json.RawMessage
	Message string          // one line for people
	Call    protocol.CallID // the last call of the pipeline that it made; empty if it made none
}

// Kinds of [Part].
const (
	PartChunk    = "chunk"    // a part of the result, in order, complete
	PartProgress = "progress" // protocol.ToolProgress; a slow receiver may miss some
	PartWaiting  = "waiting"  // a Waiting: the call waits for the person to allow it, or goes on
)

// Part is what a caller gets while its call runs.
type Part struct {
	Kind string
	Data json.RawMessage
}

// Waiting is the data of a PartWaiting. The IDs are empty unless the person is asked.
type Waiting struct {
	ApprovalID protocol.QuestionID `json:"approval_id,omitempty"`
	CallID     protocol.CallID     `json:"call_id,omitempty"`
	Message    string              `json:"message"`
}

// IsComplete reports whether a result has the matches of its parts, as that of fs_glob has.
func IsComplete(data json.RawMessage) bool {
	var out struct{ Matches json.RawMessage }
	return json.Unmarshal(data, &out) == nil && out.Matches != nil
}

// WithMatches returns a result with the matches of its parts, for an interface whose result must be
// complete.
func WithMatches(data json.RawMessage, chunks []json.RawMessage) json.RawMessage {
	if len(chunks) == 0 || IsComplete(data) {
		return data
	}
	var all []json.RawMessage
	for _, chunk := range chunks {
		var part struct{ Matches []json.RawMessage }
		if json.Unmarshal(chunk, &part) == nil {
			all = append(all, part.Matches...)
		}
	}
	var fields map[string]json.RawMessage
	if len(all) == 0 || json.Unmarshal(data, &fields) != nil {
		return data
	}
	fields["matches"] = protocol.Encode(all)
	return protocol.Encode(fields)
}
