// Package transfer moves files between machines, the agent's workspace, and windows or command lines: one queue of rows in the store for all who ask
// for it. The gateway only leads and relays: each end does its part by itself (package stream), the agent's workspace through an end in this
// process. With two ends of our own a transfer survives every interruption, also of the gateway; with one that knows only the seeds it is served to the
// letter of seed 004, and fails when it is interrupted.
package transfer
