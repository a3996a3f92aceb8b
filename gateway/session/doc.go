// Package session manages conversations. A lock per session guards its queue and its run, which is
// a goroutine. So cancelling a queued or starting run and sending a message during a run are
// handled one after the other.
//
// [Manager] finds the sessions. session.go orders, starts and ends the runs of one session, stop.go
// stops them, run.go executes one and sink.go publishes its events. What only lists and reads chats
// is in reader.go.
//
// A message is stored before chat.send acknowledges it. While a run is active, further messages
// wait in a queue, each as a run of its own with its own terminal event; the original system
// injects them into the running turn and never answers them. While an approval is pending, a
// message that is exactly yes or no answers it, as clients of the original system expect. Any other
// message waits in the queue, while the original system drops it.
//
// A message that begins with "!" is the person's own command. It runs at once, in parallel to other
// runs.
package session
