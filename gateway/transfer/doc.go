// Package transfer moves files between machines, the agent's workspace, and windows or command lines: one queue of rows in the store for all who ask
// for it. The gateway only leads and relays: each end does its part by itself (package stream), the agent's workspace through an end in this process.
// With two ends of our own a transfer survives every interruption, also of the gateway; with one that knows only the seeds it is served to the letter
// of seed 004, and fails when it is interrupted.
//
// Between two nodes whose owners both allow it ([protocol.ExtDirect]) the bytes go straight from one to the other, and only they: the gateway asks
// the source for the pin of a key that it makes for this attempt, hands it to the destination, and tells the source where that listens and by which
// pin and token to know it. Whether they met is the destination's word ([stream.Route]); its progress comes here as ever, so that queue, journal,
// pause, cancel and the watch over silence are the same. When they do not meet, or part, the ends go on through the relay by themselves, in the same
// attempt and without another question; two that did not meet are left in peace for ten minutes. What keeps strangers out is told by package
// node/direct.
package transfer
