// Package transfer moves files between nodes, the agent's workspace, and windows or command lines.
// All transfers are in one queue, stored in the database. The gateway only coordinates and relays:
// each end does its own part (package stream), and the agent's workspace has an end in this
// process. Between two ends that support streams a transfer survives every interruption, including
// a restart of the gateway.
//
// A node of another program knows only the basic protocol (docs/protocol.md#transfers): one file at
// a time, without the extensions. With such a node a transfer is a sequence of single files
// ([basicTransfer]) and fails when it is interrupted.
//
// If the owners of two nodes allow it ([protocol.ExtDirect]), the source connects directly to the
// destination. For that, the gateway asks the source for the pin of a key made for this attempt and
// passes it to the destination; then it tells the source ([protocol.TransferStartEvent]) where the
// destination listens, and the pin and token to recognize it by. The destination reports whether
// data arrives directly ([stream.ParseRoute]). Its progress still comes through the gateway, so
// queue, journal, pause, cancel and the check for stalls are the same. If the ends cannot connect,
// they use the gateway in the same attempt; if they lose their connection, in another one. They do
// not try again for ten minutes. Package node/direct describes how strangers are kept out.
package transfer
