package shell

// Default size of a terminal.
const (
	defaultCols  = 120
	defaultRows  = 40
	maxDimension = 10_000
)
