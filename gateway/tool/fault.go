package tool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
)

// codes are the codes of faults for the errors of the protocol.
var codes = map[int]protocol.FaultCode{
	protocol.ErrBadRequest.Code: protocol.FaultInvalidArgs, protocol.ErrForbidden.Code: protocol.FaultPermissionDenied, protocol.ErrNotFound.Code: protocol.FaultNotFound,
	protocol.ErrConflict.Code: protocol.FaultAlreadyExists, protocol.ErrTooLarge.Code: protocol.FaultTooLarge, protocol.ErrUnavailable.Code: protocol.FaultTargetUnreachable,
	protocol.ErrTimeout.Code: protocol.FaultTimeout, protocol.ErrTooMany.Code: protocol.FaultRateLimited, protocol.ErrCancelled.Code: protocol.FaultCanceled,
}

// FaultOf returns any error as a fault, for callers that are programs. The text of an unknown error
// is not passed on.
func FaultOf(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		return f
	}
	if failed, ok := errors.AsType[*Failure](err); ok {
		return toolFault(failed.Fault, failed.Text)
	}
	if bad, ok := errors.AsType[*toolkit.InputError](err); ok {
		return protocol.NewFault(protocol.FaultInvalidArgs, toolkit.Brief(bad.Error()))
	}
	switch {
	case errors.Is(err, context.Canceled):
		return protocol.NewFault(protocol.FaultCanceled, "the call was cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.NewFault(protocol.FaultTimeout, "the call took too long")
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok && codes[e.Code] != "" {
		return protocol.NewFault(codes[e.Code], toolkit.Brief(e.Message))
	}
	slog.Error("A call of a program failed", "err", err)
	return protocol.NewFault(protocol.FaultInternal, "Fairlead could not carry out the call. Its log has the details.")
}

// toolFault returns the failure of a tool: with its code, or one that follows from its text.
func toolFault(f *protocol.Fault, text string) error {
	switch {
	case f != nil:
		return f
	case strings.Contains(text, "APPROVAL_DRIFT"):
		return protocol.NewFault(protocol.FaultFailedPrecondition, text)
	case strings.HasPrefix(text, "File not found"), strings.Contains(text, "no such file"):
		return protocol.NewFault(protocol.FaultNotFound, text)
	case strings.Contains(text, "is outside the workspace"), strings.Contains(text, "may not be changed"):
		return protocol.NewFault(protocol.FaultPermissionDenied, text)
	}
	return protocol.NewFault(protocol.FaultInvalidArgs, text)
}

// Outcome returns the result of a call, or why it has none as a *protocol.Fault.
func Outcome(r Result, err error) (Result, error) {
	i := r.Info
	switch {
	case err != nil:
		return r, FaultOf(err)
	case i.Unanswered():
		return r, protocol.NewFault(protocol.FaultPermissionDenied, "Fairlead's owner did not answer in time, so the call did not run.")
	case i.State == protocol.CallDenied:
		return r, protocol.NewFault(protocol.FaultPermissionDenied, i.Error)
	case i.State == protocol.CallCancelled:
		return r, protocol.NewFault(protocol.FaultCanceled, i.Error)
	case i.State == protocol.CallUnknown && i.Fault == nil:
		f := protocol.NewFault(protocol.FaultInternal, i.Error)
		f.Retryable = false // it may have run
		return r, f
	case i.State == protocol.CallUnknown, i.State == protocol.CallFailed && i.Error != "":
		return r, toolFault(i.Fault, i.Error)
	case i.State == protocol.CallFailed && i.Node == protocol.NativePrefix:
		return r, nativeFault(r.Raw)
	}
	return r, nil
}

// nativeFault returns the error in the result of a tool of the gateway.
func nativeFault(raw json.RawMessage) error {
	var out protocol.NativeResult
	if json.Unmarshal(raw, &out) != nil || out.Error == "" {
		out.Error = "the tool failed"
	}
	return toolFault(out.Fault, out.Error)
}
