package toolkit

import "strings"

// maxError is how long the text of an error is at most, in bytes. It goes to a model.
const maxError = 4000

// Brief takes the middle out of the text of an error that repeats too much of what it was given, such as a path of a megabyte.
func Brief(text string) string {
	if len(text) <= maxError {
		return text
	}
	const half = (maxError - 10) / 2
	return strings.ToValidUTF8(text[:half], "") + " […] " + strings.ToValidUTF8(text[len(text)-half:], "")
}

// long is an error whose text is too long to be told whole.
type long struct{ error }

func (l long) Error() string { return Brief(l.error.Error()) }
func (l long) Unwrap() error { return l.error }

func brief(err error) error {
	if err == nil || len(err.Error()) <= maxError {
		return err
	}
	return long{err}
}
