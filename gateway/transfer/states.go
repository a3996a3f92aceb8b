package transfer

import (
	"errors"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// action is what a person can do with a transfer in the queue or its history.
type action string

const (
	actionPause  action = "pause"
	actionResume action = "resume"
	actionCancel action = "cancel"
	actionRetry  action = "retry"
)

// nextStates says which action is allowed in which state, and to which state it leads. An action
// that leads to the same state succeeds without effect. Two further actions need an ended transfer:
// undo ([protocol.Transfer.Undoable]), which keeps the state, and forget, which removes it.
var nextStates = map[action]map[string]string{
	actionPause: {
		protocol.TransferQueued:  protocol.TransferPaused,
		protocol.TransferWaiting: protocol.TransferPaused,
		protocol.TransferRunning: protocol.TransferPaused,
		protocol.TransferPaused:  protocol.TransferPaused,
	},
	actionResume: {
		protocol.TransferQueued:  protocol.TransferQueued,
		protocol.TransferWaiting: protocol.TransferWaiting,
		protocol.TransferRunning: protocol.TransferRunning,
		protocol.TransferPaused:  protocol.TransferQueued, // waiting while a machine is offline
	},
	actionCancel: {
		protocol.TransferQueued:    protocol.TransferCancelled,
		protocol.TransferWaiting:   protocol.TransferCancelled,
		protocol.TransferRunning:   protocol.TransferCancelled,
		protocol.TransferPaused:    protocol.TransferCancelled,
		protocol.TransferCancelled: protocol.TransferCancelled,
	},
	actionRetry: {
		protocol.TransferQueued:    protocol.TransferQueued,
		protocol.TransferWaiting:   protocol.TransferWaiting,
		protocol.TransferRunning:   protocol.TransferRunning,
		protocol.TransferPaused:    protocol.TransferPaused,
		protocol.TransferFailed:    protocol.TransferQueued,
		protocol.TransferCancelled: protocol.TransferQueued,
	},
}

// errSameState prevents a change that an action would not make.
var errSameState = errors.New("the transfer is already in this state")

// check returns an error if an action is not allowed in a state, or errSameState if it has no effect.
func (a action) check(state string) error {
	switch next, ok := nextStates[a][state]; {
	case !ok:
		return endedError(state)
	case next == state:
		return errSameState
	}
	return nil
}

// request stores the state that an action leads to, which f sets. The caller then stops the attempt
// that runs.
func (j *job) request(a action, f func(*store.Transfer) error) error {
	err := j.change(func(row *store.Transfer) error {
		if err := a.check(row.State); err != nil {
			return err
		}
		return f(row)
	})
	if errors.Is(err, errSameState) {
		return nil
	}
	return err
}
