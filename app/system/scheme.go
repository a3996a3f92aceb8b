package system

// Scheme is the colour scheme of the desktop or of a part of it.
type Scheme int

// The schemes.
const (
	Unknown Scheme = iota
	Light
	Dark
)
