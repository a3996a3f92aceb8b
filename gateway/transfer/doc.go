// Package transfer moves files between machines, the agent's workspace, and windows or command
// lines: one queue of rows in the store for all who ask for it. The gateway only leads and relays:
// each end does its part by itself (package stream), the agent's workspace through an end in this
// process. With two ends of our own a transfer survives every interruption, also of the gateway.
//
// A node of another program knows only the basic protocol: one file at a time, by the events send,
// start, receive and end, without the fields that are marked as extensions. With such a node a
// transfer is a series of single files ([series]) and fails when it is interrupted.
//
// Two nodes have a connection of their own for a large transfer ([protocol.ExtLane]): the gateway
// joins one of each to its own port (package junction), where the bytes pass as they are. Where
// both owners allow it ([protocol.ExtDirect]) they go straight from one to the other instead, and
// only they. The gateway asks the source for the pin of a key that it makes for this attempt, hands
// it to the destination with a ticket, and tells the source ([protocol.EventTransferMeet]) where
// that listens, by which pin and token to know it, and a ticket of its own. Meanwhile the first
// bytes go as messages. Whether they met is their word ([stream.Turned]); the destination's
// progress comes here as ever, so that queue, journal, pause, cancel and the watch over silence are
// the same. When they do not meet, or part, the ends go on through messages by themselves, in the
// same attempt and without another question; a way that was of no use is left in peace for ten
// minutes. What keeps strangers out is told by package node/direct.
package transfer
