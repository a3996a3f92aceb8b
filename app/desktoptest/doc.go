// Package desktoptest tests the built desktop program in a real X desktop, as a person would use
// it: it captures the screen, reads it, moves the mouse and types. packaging/desktop-test.sh starts
// it; a build tag excludes it from ordinary test runs.
package desktoptest
