//go:build unix && !linux && !darwin

package stream

// seekData and seekHole are SEEK_DATA and SEEK_HOLE of FreeBSD. A system without them returns an
// error.
const (
	seekData = 3
	seekHole = 4
)
