// Package session holds the conversations. One goroutine per session owns its queue and its run; callers send it functions and wait. A run
// is a child goroutine whose end comes back as a message, so cancel while queued, cancel while starting and a message during a run are
// each decided in order of arrival.
//
// What chat.send has acknowledged is stored. While a run is active further messages wait, each as a run of its own with its own
// terminal event; the original injected them into the running turn and never answered them. While a question is open a message that is
// exactly yes or no answers it, as clients of the original expect; anything else waits in the queue, where the original swallowed it.
//
// A message that begins with "!" is the person's own command: it runs at once, beside whatever else runs.
package session
