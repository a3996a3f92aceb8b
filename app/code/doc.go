// Package code shows monospaced text: source code, the output of programs, commands.
//
// A [View] draws its lines into one picture, and only the visible ones, because a Fyne label lays
// out the whole text: 50,000 lines would take seconds. A [Panel] scrolls a view.
package code
