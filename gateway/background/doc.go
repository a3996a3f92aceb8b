// Package background tells chats of the commands that they have left running on a machine, once those have ended (seed 004, node.exec.event;
// gsv interop notes 2.2).
// An agent that has ended the command itself, or has looked at its end, is not woken for it: the chat gets a line for people (package session).
//
// The journal knows which chat a command belongs to: its call has the chat, and was written down before the machine was told to begin. A run
// of that chat answers the event, under an id that follows from the call. So a command wakes its chat once, however often a machine reports
// it and whatever was stopped in between: an event that could not be taken is refused, and its machine sends it again.
package background
