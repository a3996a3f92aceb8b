package catalog

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// Modes of a tool: how it answers.
const (
	OneShot      = "one_shot"
	ServerStream = "server_stream" // parts of the result arrive while the call runs
)

// Tool describes a tool. Every interface shows these same values. In and Out are its schemas, as
// InputSchema and OutputSchema have them.
type Tool struct {
	protocol.CatalogTool
	In  *jsonschema.Schema // strict: unknown fields are refused
	Out *jsonschema.Schema // open: a newer version may add fields
}

// Request is a call of a tool.
type Request struct {
	Tool string
	Args json.RawMessage
	// IdempotencyKey, if set, makes a repeated call of the same caller return the first one's result.
	IdempotencyKey string
	// Emit, if set, gets the parts of the call in order, one at a time. The call waits for it; its
	// error, such as that of a closed connection, ends the call.
	Emit func(ctx context.Context, p job.Part) error
}

// statuses are the HTTP statuses of failures.
var statuses = map[protocol.FaultCode]int{
	protocol.FaultUnauthorized:       http.StatusUnauthorized,
	protocol.FaultForbidden:          http.StatusForbidden,
	protocol.FaultPermissionDenied:   http.StatusForbidden,
	protocol.FaultApprovalRequired:   http.StatusConflict,
	protocol.FaultNotFound:           http.StatusNotFound,
	protocol.FaultInvalidArgs:        http.StatusBadRequest,
	protocol.FaultTargetNotFound:     http.StatusNotFound,
	protocol.FaultTargetUnreachable:  http.StatusServiceUnavailable,
	protocol.FaultAlreadyExists:      http.StatusConflict,
	protocol.FaultTooLarge:           http.StatusRequestEntityTooLarge,
	protocol.FaultTimeout:            http.StatusGatewayTimeout,
	protocol.FaultCanceled:           499,
	protocol.FaultRateLimited:        http.StatusTooManyRequests,
	protocol.FaultResourceExhausted:  http.StatusTooManyRequests,
	protocol.FaultUnsupported:        http.StatusNotImplemented,
	protocol.FaultMethodNotAllowed:   http.StatusMethodNotAllowed,
	protocol.FaultFailedPrecondition: http.StatusPreconditionFailed,
	protocol.FaultInternal:           http.StatusInternalServerError,
}

// HTTPStatus returns the HTTP status of a failure.
func HTTPStatus(code protocol.FaultCode) int {
	if s, ok := statuses[code]; ok {
		return s
	}
	return http.StatusInternalServerError
}
