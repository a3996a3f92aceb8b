// Package warden is the helper process that starts the node's commands, watches what becomes of them and ends it, and the node's end of the talk
// with it. Linux only. What a command may do is decided before, in package sandbox; how it is kept to that is package confine's.
package warden
