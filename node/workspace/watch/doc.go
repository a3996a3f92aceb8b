// Package watch reports changes in folders of a workspace and, on request, in the trees below them.
// The system reports changes in the folders themselves; trees are watched by one handle each on
// Windows and polled elsewhere.
package watch
