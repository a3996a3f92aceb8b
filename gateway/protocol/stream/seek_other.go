//go:build unix && !linux && !darwin

package stream

// seekData is SEEK_DATA of FreeBSD; a system that knows none refuses it.
const seekData = 3
