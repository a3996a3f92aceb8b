// Package chat is the pane of one conversation: header, transcript and composer.
//
// The pane shows a complete [State] that it receives at most a few times a second, and calls
// [Handlers]; it makes no requests itself. [Pane.Update] compares the new state with the previous
// one and redraws only changed rows. View state (expanded cards, the draft, the chosen machine)
// belongs to the pane and survives updates.
package chat
