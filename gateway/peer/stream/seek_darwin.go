package stream

// seekData and seekHole are SEEK_DATA and SEEK_HOLE.
const (
	seekData = 4
	seekHole = 3
)
