package protocol

import (
	"encoding/json"
	"errors"
)

// FaultCode is the stable name of a tool's failure, for programs that call tools over MCP or REST.
type FaultCode string

// The codes of failures (docs/api.md#errors).
const (
	FaultUnauthorized       FaultCode = "unauthorized"
	FaultForbidden          FaultCode = "forbidden"         // a scope is missing
	FaultPermissionDenied   FaultCode = "permission_denied" // the person or a rule said no
	FaultApprovalRequired   FaultCode = "approval_required" // the person has not answered yet
	FaultNotFound           FaultCode = "not_found"
	FaultInvalidArgs        FaultCode = "invalid_args"
	FaultTargetNotFound     FaultCode = "target_not_found"
	FaultTargetUnreachable  FaultCode = "target_unreachable"
	FaultAlreadyExists      FaultCode = "already_exists"
	FaultTooLarge           FaultCode = "too_large"
	FaultTimeout            FaultCode = "timeout"
	FaultCanceled           FaultCode = "canceled"
	FaultRateLimited        FaultCode = "rate_limited"
	FaultResourceExhausted  FaultCode = "resource_exhausted"
	FaultUnsupported        FaultCode = "unsupported"
	FaultMethodNotAllowed   FaultCode = "method_not_allowed"
	FaultFailedPrecondition FaultCode = "failed_precondition"
	FaultInternal           FaultCode = "internal"
)

// Fault is a tool's failure with a code, for callers that are programs. A tool returns it as its
// error. Its text is for people and models.
type Fault struct {
	Code      FaultCode       `json:"code"`
	Message   string          `json:"message"`
	Retryable bool            `json:"retryable"` // the same call may succeed later
	Details   json.RawMessage `json:"details,omitempty"`
}

func (f *Fault) Error() string { return f.Message }

// AsFault returns the fault in an error; an error without one is an internal fault without its text.
func AsFault(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return NewFault(FaultInternal, "the call failed")
}

// NewFault returns a fault. Whether it is retryable follows from its code.
func NewFault(code FaultCode, message string) *Fault {
	switch code {
	case FaultTimeout, FaultTargetUnreachable, FaultRateLimited, FaultResourceExhausted, FaultInternal, FaultApprovalRequired:
		return &Fault{Code: code, Message: message, Retryable: true}
	}
	return &Fault{Code: code, Message: message}
}

// With returns a copy with details as JSON; details that cannot be encoded are omitted.
func (f *Fault) With(details any) *Fault {
	c := *f
	if raw, err := Marshal(details); err == nil {
		c.Details = raw
	}
	return &c
}
