//go:build unix && !linux && !darwin

package stream

// seekData and seekHole are SEEK_DATA and SEEK_HOLE of FreeBSD; a system that knows none refuses
// it.
const (
	seekData = 3
	seekHole = 4
)
