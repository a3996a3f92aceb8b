package access

import (
	"errors"
	"io/fs"
	"syscall"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// ChangedError is a [workspace.ErrChanged] with the checksum that the file has now, so that the caller
// can start again from there.
type ChangedError struct{ Text, Observed string }

func (e *ChangedError) Error() string { return e.Text }

// Unwrap implements the interface of package errors.
func (e *ChangedError) Unwrap() []error {
	f := protocol.NewFault(protocol.FaultFailedPrecondition, e.Text)
	return []error{workspace.ErrChanged, f.With(map[string]string{"observed_sha256": e.Observed})}
}

// FaultOf returns the failure of a tool as a fault with the error's text: with the code of the
// fault in the error, or the one that follows from its cause. It is nil if no code follows.
func FaultOf(err error) *protocol.Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		own := *f
		own.Message = err.Error()
		return &own
	}
	switch {
	case errors.Is(err, workspace.ErrChanged), errors.Is(err, workspace.ErrTargetChanged):
		return protocol.NewFault(protocol.FaultFailedPrecondition, err.Error())
	case workspace.IsRefusal(err), errors.Is(err, fs.ErrPermission):
		return protocol.NewFault(protocol.FaultPermissionDenied, err.Error())
	case errors.Is(err, fs.ErrNotExist):
		return protocol.NewFault(protocol.FaultNotFound, err.Error())
	case errors.Is(err, workspace.ErrExists), errors.Is(err, fs.ErrExist):
		return protocol.NewFault(protocol.FaultAlreadyExists, err.Error())
	case errors.Is(err, workspace.ErrNotRegular), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrInvalid):
		return protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
	case errors.Is(err, syscall.ENOSPC):
		return protocol.NewFault(protocol.FaultTooLarge, "The disk is full. Nothing was changed.")
	}
	return nil
}
