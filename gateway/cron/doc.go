// Package cron runs the agent by the clock: jobs at a time, at an interval or by a cron expression, and the heartbeat. Jobs and what became
// of them are in the store; one goroutine, that of [Scheduler.Run], owns the timer and every decision.
//
// A run is written down before it begins, so that a due time is served at most once, whatever happens; what a crash cut off is taken up at
// the next start.
package cron
