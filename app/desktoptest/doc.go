// Package desktoptest drives the built desktop program in a real X desktop as a person would: it looks at the screen, reads it, moves
// the mouse and types. packaging/desktop-test.sh starts it; the build tag keeps it out of ordinary test runs.
package desktoptest
