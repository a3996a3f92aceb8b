package protocol

import (
	"context"
	"encoding/json"
	"errors"
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

// The errors in use. Wrap them, or copy them with With; compare with errors.Is. The codes are those
// of GSV, which its clients compare (docs/protocol.md#errors).
var (
	ErrNotConnected    = &Error{Code: 101, Message: "Not connected"}
	ErrVersion         = &Error{Code: 102, Message: "Unsupported protocol version"}
	ErrInvalidConnect  = &Error{Code: 103, Message: "Invalid connect"}
	ErrBadRequest      = &Error{Code: 400, Message: "Bad request"}
	ErrUnauthorized    = &Error{Code: 401, Message: "Unauthorized: invalid or missing token"}
	ErrForbidden       = &Error{Code: 403, Message: "Not allowed"}
	ErrNotFound        = &Error{Code: 404, Message: "Not found"}
	ErrConflict        = &Error{Code: 409, Message: "Conflict"}
	ErrTooLarge        = &Error{Code: 413, Message: "Too large"}
	ErrApprovalNeeded  = &Error{Code: 428, Message: "approval_required"}
	ErrTooMany         = &Error{Code: 429, Message: "Too many requests", Retryable: true}
	ErrInternal        = &Error{Code: 500, Message: "Internal error"}
	ErrUnavailable     = &Error{Code: 503, Message: "Unavailable", Retryable: true}
	ErrTimeout         = &Error{Code: 504, Message: "Timed out", Retryable: true}
	ErrStorage         = &Error{Code: 507, Message: "The database cannot be written"}
	ErrCancelled       = &Error{Code: 499, Message: "Cancelled"}
	ErrModelAuth       = &Error{Code: 521, Message: "The provider refused the key"}
	ErrModelRateLimit  = &Error{Code: 522, Message: "The provider limits the rate", Retryable: true}
	ErrContextOverflow = &Error{Code: 523, Message: "The chat is longer than the model can read"}
	ErrModel           = &Error{Code: 524, Message: "The model failed"}
	ErrBudget          = &Error{Code: 525, Message: "Budget reached"}
	// ErrIncomplete is an answer that the provider ended early, such as by a filter or a limit.
	// Another attempt would end in the same way.
	ErrIncomplete = &Error{Code: 526, Message: "The answer is incomplete"}
)

// AsError converts any error into its wire form. It keeps the whole text of err. The code comes
// from the first *Error in its chain, or from a context error; otherwise it is that of [ErrInternal].
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
