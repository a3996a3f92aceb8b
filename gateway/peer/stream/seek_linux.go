package stream

// seekData and seekHole are SEEK_DATA and SEEK_HOLE.
const (
	seekData = 3
	seekHole = 4
)
