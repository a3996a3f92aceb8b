package protocol

import (
	"context"
	"encoding/json"
	"errors"
)

// Error codes in use. The specification does not define them; these are the codes of the original
// system, which its clients compare (docs/protocol.md#errors).
const (
	CodeNotConnected    = 101
	CodeVersion         = 102
	CodeInvalidConnect  = 103
	CodeBadRequest      = 400
	CodeUnauthorized    = 401
	CodeForbidden       = 403
	CodeNotFound        = 404
	CodeConflict        = 409
	CodeTooLarge        = 413
	CodeApprovalNeeded  = 428
	CodeTooMany         = 429
	CodeInternal        = 500
	CodeUnavailable     = 503
	CodeTimeout         = 504
	CodeStorage         = 507
	CodeCancelled       = 499
	CodeModelAuth       = 521
	CodeModelRateLimit  = 522
	CodeContextOverflow = 523
	CodeModel           = 524
)

// Error is the error of a response (docs/protocol.md#errors). It is also a Go error: errors.Is
// compares codes, so the sentinels below work on both sides of a connection.
type Error struct {
	Code      int             `json:"code"`
	Message   string          `json:"message"`
	Details   json.RawMessage `json:"details,omitempty"`
	Retryable bool            `json:"retryable,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy with another message.
func (e *Error) With(message string) *Error {
	c := *e
	c.Message = message
	return &c
}

// WithDetails returns a copy with details as JSON; details that cannot be encoded are omitted.
func (e *Error) WithDetails(details any) *Error {
	c := *e
	if raw, err := Marshal(details); err == nil {
		c.Details = raw
	}
	return &c
}

// Sentinels. Wrap them, or copy them with With; compare with errors.Is.
var (
	ErrNotConnected    = &Error{Code: CodeNotConnected, Message: "Not connected"}
	ErrVersion         = &Error{Code: CodeVersion, Message: "Unsupported protocol version"}
	ErrInvalidConnect  = &Error{Code: CodeInvalidConnect, Message: "Invalid connect"}
	ErrBadRequest      = &Error{Code: CodeBadRequest, Message: "Bad request"}
	ErrUnauthorized    = &Error{Code: CodeUnauthorized, Message: "Unauthorized: invalid or missing token"}
	ErrForbidden       = &Error{Code: CodeForbidden, Message: "Not allowed"}
	ErrNotFound        = &Error{Code: CodeNotFound, Message: "Not found"}
	ErrConflict        = &Error{Code: CodeConflict, Message: "Conflict"}
	ErrTooLarge        = &Error{Code: CodeTooLarge, Message: "Too large"}
	ErrApprovalNeeded  = &Error{Code: CodeApprovalNeeded, Message: "approval_required"}
	ErrTooMany         = &Error{Code: CodeTooMany, Message: "Too many requests", Retryable: true}
	ErrInternal        = &Error{Code: CodeInternal, Message: "Internal error"}
	ErrUnavailable     = &Error{Code: CodeUnavailable, Message: "Unavailable", Retryable: true}
	ErrTimeout         = &Error{Code: CodeTimeout, Message: "Timed out", Retryable: true}
	ErrStorage         = &Error{Code: CodeStorage, Message: "The database cannot be written"}
	ErrCancelled       = &Error{Code: CodeCancelled, Message: "Cancelled"}
	ErrModelAuth       = &Error{Code: CodeModelAuth, Message: "The provider refused the key"}
	ErrModelRateLimit  = &Error{Code: CodeModelRateLimit, Message: "The provider limits the rate", Retryable: true}
	ErrContextOverflow = &Error{Code: CodeContextOverflow, Message: "The chat is longer than the model can read"}
	ErrModel           = &Error{Code: CodeModel, Message: "The model failed"}
)

// AsError converts any error into its wire form. It keeps the whole text of err. The code comes
// from the first *Error in its chain, or from a context error; otherwise it is [CodeInternal].
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return &Error{Code: e.Code, Message: err.Error(), Details: e.Details, Retryable: e.Retryable}
	case errors.Is(err, context.Canceled):
		return ErrCancelled.With(err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout.With(err.Error())
	}
	return ErrInternal.With(err.Error())
}
