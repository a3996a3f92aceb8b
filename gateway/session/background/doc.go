// Package background reports background commands that have ended to the chats that started them
// (docs/protocol.md#background-commands). An agent that has ended the command itself, or has seen
// its end, is not started for it: the chat only gets a line for people (package session).
//
// The journal knows which chat a command belongs to: the call that started it names the chat, and
// is stored before it is sent to the node. A run of that chat answers the event, under an ID
// derived from the call. So a command starts one run, however often a node reports its end and
// whatever was restarted in between: an event that cannot be accepted is refused, and its node
// sends it again.
package background
