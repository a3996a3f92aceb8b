package stream

import "time"

// fileIdentity identifies a file and its state. The strings are empty if the system does not
// provide them.
type fileIdentity struct {
	file    string        // constant for the life of the file, whatever is written to it
	content string        // constant until the content or any metadata of the file changes
	age     time.Duration // time since the last change
}
