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
// Two nodes can use a separate connection for a large transfer ([protocol.ExtOwnConnection]): each
// node connects to the gateway's port, and the gateway joins the two connections (package junction)
// without reading the bytes. If both owners allow it ([protocol.ExtDirect]), the nodes connect
// directly to each other instead. For that, the gateway asks the source for the pin of a key made
// for this attempt and passes it to the destination with a ticket. It then tells the source
// ([protocol.EventTransferMeet]) where the destination listens, the pin and token to recognize it
// by, and a ticket of the source's own. Meanwhile the first bytes are sent as messages.
//
// The ends report whether they are connected ([stream.ParseRouteChange]). The destination's
// progress still comes through the gateway, so queue, journal, pause, cancel and the check for
// stalls are the same. If the ends cannot connect, or lose their connection, they continue through
// messages on their own, in the same attempt and without another approval; a route that failed is
// not tried again for ten minutes. Package node/direct describes how strangers are kept out.
package transfer
