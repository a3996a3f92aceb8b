// Package transcript shows the conversation of a chat: messages, tool calls and notices in a list
// that may have tens of thousands of rows.
//
// [View] replaces Fyne's list, because rows have different heights and change them while the agent
// writes: it creates only the visible rows and never refreshes all of them. A selection by mouse
// may span any number of rows.
package transcript
