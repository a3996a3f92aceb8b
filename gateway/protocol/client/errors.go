package client

import (
	"errors"
	"fmt"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// FinalError reports that the gateway refused the peer and that reconnecting is useless.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }

func (e *FinalError) Unwrap() error { return e.Err }

// helloError returns the error of a refused handshake, as a FinalError if it is final.
func helloError(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		switch e.Code {
		case protocol.CodeUnauthorized, protocol.CodeVersion, protocol.CodeInvalidConnect, protocol.CodeForbidden, protocol.CodeBadRequest:
			return &FinalError{err}
		}
	}
	return err
}

// endError returns the error of a closed connection, as a FinalError if it is final. A peer that
// was replaced or removed must not reconnect (close code 1000 with a reason, as in the original
// system). A peer whose token was refused needs another token.
func endError(err error) error {
	var closed *websocket.CloseError
	if errors.As(err, &closed) {
		switch {
		case closed.Code == protocol.CloseUnauthorized:
			return &FinalError{protocol.ErrUnauthorized}
		case closed.Code == protocol.CloseReplaced && closed.Text != "":
			return &FinalError{protocol.ErrConflict.With(closed.Text)}
		}
	}
	return protocol.ErrUnavailable.With(fmt.Sprintf("connection lost: %v", err))
}
