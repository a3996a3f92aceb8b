package client

import (
	"errors"
	"fmt"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// FinalError says that reconnecting is of no use: the gateway refused the peer.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }

func (e *FinalError) Unwrap() error { return e.Err }

// helloError says whether a refused handshake is final.
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

// endError says whether the end of a connection is final: a peer that was replaced or forgotten must not fight (the original's close
// code 1000 with a reason), one whose token was refused must ask for another.
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
