package stream

import "time"

// fileIdentity tells whether a file is the one that it was; the texts are empty where the system does not say.
type fileIdentity struct {
	file    string        // the same for as long as the file exists, whatever is written to it
	content string        // the same until somebody writes to it, or changes anything else about it
	age     time.Duration // how long ago that was last
}
