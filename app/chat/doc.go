// Package chat is the pane of one conversation: its header, the transcript and the composer.
//
// The pane shows a [State] that it is given as a whole, at most a few times a second, and calls [Handlers]; it asks nobody
// anything. [Pane.Update] compares with what it shows and touches only the rows that changed. What is a matter of the pane alone
// (which cards are open, what is typed, the machine that is chosen) lives here and survives updates.
package chat
