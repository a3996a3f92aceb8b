// Package cron runs the agent on schedules: jobs at a time, at an interval or by a cron expression,
// and the heartbeat. Jobs and their runs are in the store. One goroutine, that of [Scheduler.Run],
// owns the timer and makes every decision.
//
// A run is stored before it begins, so that each due time runs at most once, even after a crash.
// The next start continues runs that a crash interrupted.
package cron
