package tools

// The size of a terminal that nobody asked for another.
const (
	defaultCols = 120
	defaultRows = 40
	maxSide     = 10_000
)
