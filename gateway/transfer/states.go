package transfer

import (
	"errors"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// eventKind is what happens to a transfer.
type eventKind string

// Requests of people and apps. Those for ended transfers wait until the transfer is at rest.
const (
	eventPause  eventKind = "pause"
	eventResume eventKind = "resume"
	eventAwait  eventKind = "await" // a resume while a machine is offline
	eventCancel eventKind = "cancel"
	eventRetry  eventKind = "retry"
	eventUndo   eventKind = "undo"
)

// What the queue, the nodes and the job itself ask for.
const (
	eventStart   eventKind = "start"   // there is room, and both ends are connected
	eventExpire  eventKind = "expire"  // it has waited for too long
	eventBegin   eventKind = "begin"   // the rules allow the attempt
	eventUndone  eventKind = "undone"  // the destination has restored the replaced files
	eventCleanUp eventKind = "cleanup" // the destination is connected and may have unfinished files
	eventCleaned eventKind = "cleaned" // the destination has removed them
	eventDetach  eventKind = "detach"  // the call that has started it ends before it
)

// Ends of an attempt.
const (
	eventArrived    eventKind = "arrived"
	eventIncomplete eventKind = "incomplete" // some files have failed
	eventStopped    eventKind = "stopped"    // by a pause or a cancellation
	eventRevoked    eventKind = "revoked"    // a pairing or an app's access has ended
	eventIndirect   eventKind = "indirect"   // the direct connection is lost; the gateway relays the rest
	eventShutdown   eventKind = "shutdown"
	eventUnstored   eventKind = "unstored" // the store refused a step
	eventOffline    eventKind = "offline"  // a machine has disconnected, or was silent for too long
	eventFailed     eventKind = "failed"
)

// Short names for the table.
const (
	queued    = protocol.TransferQueued
	waiting   = protocol.TransferWaiting
	running   = protocol.TransferRunning
	paused    = protocol.TransferPaused
	done      = protocol.TransferDone
	failed    = protocol.TransferFailed
	cancelled = protocol.TransferCancelled
)

// transition says what an event does in a state: check may refuse it; to and the change set are
// stored; then do follows. Without set, nothing changes.
type transition struct {
	to    string
	check func(store.Transfer, message, Machines) error
	set   func(*store.Transfer, message) // is called after the state is set
	do    action
}

// action is what follows a transition.
type action int

const (
	doNothing action = iota
	doAttempt        // begin an attempt
	doStop           // stop the attempt
	doDiscard        // stop the attempt, or ask the destination to remove unfinished files
	doCleanUp        // ask a destination that may have unfinished files to remove them
	doUndo           // ask the destination to restore the replaced files
	doEnqueue        // put it into the queue again
	doDetach         // record its end in the journal
)

// transitions are all transitions. A missing one is refused ([eventKind.refusal]).
var transitions = map[eventKind]states{
	eventPause: {
		queued:  {to: paused, set: setPaused, do: doStop},
		waiting: {to: paused, set: setPaused, do: doStop},
		running: {to: paused, check: checkCanPause, set: setPaused, do: doStop},
		paused:  {to: paused},
	},
	eventResume: {
		queued:  {to: queued, check: checkWindow},
		waiting: {to: waiting, check: checkWindow},
		running: {to: running, check: checkWindow},
		paused:  {to: queued, check: checkWindow, set: setReason},
	},
	eventAwait: {
		queued:  {to: queued, check: checkWindow},
		waiting: {to: waiting, check: checkWindow},
		running: {to: running, check: checkWindow},
		paused:  {to: waiting, check: checkWindow, set: setReason},
	},
	eventCancel: {
		queued:    {to: cancelled, set: setCancelled, do: doDiscard},
		waiting:   {to: cancelled, set: setCancelled, do: doDiscard},
		running:   {to: cancelled, set: setCancelled, do: doDiscard},
		paused:    {to: cancelled, set: setCancelled, do: doDiscard},
		cancelled: {to: cancelled},
	},
	eventRetry: {
		queued:    {to: queued},
		waiting:   {to: waiting},
		running:   {to: running},
		paused:    {to: paused},
		failed:    {to: queued, check: checkRetry, set: setRetried, do: doEnqueue},
		cancelled: {to: queued, check: checkRetry, set: setRetried, do: doEnqueue},
	},
	eventUndo: {
		done:      {to: done, check: checkUndo, do: doUndo},
		failed:    {to: failed, check: checkUndo, do: doUndo},
		cancelled: {to: cancelled, check: checkUndo, do: doUndo},
	},
	eventUndone: {
		done:      {to: done, set: setUndone},
		failed:    {to: failed, set: setUndone},
		cancelled: {to: cancelled, set: setUndone},
	},
	eventCleanUp: {cancelled: {to: cancelled, do: doCleanUp}},
	eventCleaned: {cancelled: {to: cancelled, check: checkConfirmed, set: setCleaned}},
	eventDetach: {
		queued:  {to: queued, do: doDetach},
		waiting: {to: waiting, do: doDetach},
		running: {to: running, do: doDetach},
		paused:  {to: paused, do: doDetach},
	},
	eventStart: {
		queued:  {to: queued, do: doAttempt},
		waiting: {to: waiting, do: doAttempt},
	},
	eventExpire: {
		queued:  {to: failed, set: setFailed},
		waiting: {to: failed, set: setFailed},
	},
	eventBegin: {
		queued:  {to: running, set: setRunning},
		waiting: {to: running, set: setRunning},
	},
	// The ends of an attempt. It is queued or waits if it was paused and resumed meanwhile.
	eventArrived:    fromAll(done, setComplete),
	eventIncomplete: fromAll(failed, setComplete),
	eventFailed:     fromOpen(failed, setFailed),
	eventIndirect:   fromOpen(queued, setReason),
	eventShutdown:   fromOpen(waiting, setReason),
	eventUnstored:   fromOpen(waiting, setReason),
	eventOffline:    fromOpen(waiting, setOffline),
	eventRevoked: {
		queued:    {to: failed, set: setFailed},
		waiting:   {to: failed, set: setFailed},
		running:   {to: failed, set: setFailed},
		paused:    {to: failed, set: setFailed},
		cancelled: staysCancelled,
	},
	eventStopped: {
		queued:    {to: queued, set: setStopped},
		waiting:   {to: waiting, set: setStopped},
		running:   {to: queued, set: setStopped},
		paused:    staysPaused,
		cancelled: staysCancelled,
	},
}

// states are the transitions of an event, by the state before.
type states map[string]transition

// What was paused or cancelled during an attempt stays so at its end.
var (
	staysPaused    = transition{to: paused, set: setStopped}
	staysCancelled = transition{to: cancelled, set: setCancelled, do: doCleanUp}
)

// fromOpen leads to one state, except from the two that a person has chosen.
func fromOpen(to string, set func(*store.Transfer, message)) states {
	t := transition{to: to, set: set}
	return states{queued: t, waiting: t, running: t, paused: staysPaused, cancelled: staysCancelled}
}

// fromAll leads to one state, because the files have arrived.
func fromAll(to string, set func(*store.Transfer, message)) states {
	t := transition{to: to, set: set}
	return states{queued: t, waiting: t, running: t, paused: t, cancelled: t}
}

// needsRest reports whether an event must wait until the work of an ended transfer has ended.
func (e eventKind) needsRest() bool {
	return e == eventRetry || e == eventUndo || e == eventCleanUp || e == eventCleaned
}

// refusal is the error for an event without a transition from a state.
func (e eventKind) refusal(state string) error {
	switch e {
	case eventPause, eventResume, eventAwait, eventCancel, eventRetry:
		return protocol.ErrConflict.With("The transfer has ended already: it is " + state)
	case eventUndo:
		return protocol.ErrConflict.With("The transfer has not ended yet. Cancel it first")
	case eventBegin:
		return errPaused // or cancelled
	}
	return errLate
}

// errLate is the error for an event that has no meaning any more in the present state.
var errLate = errors.New("the transfer is in another state by now")
