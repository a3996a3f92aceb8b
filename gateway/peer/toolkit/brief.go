package toolkit

import "strings"

// maxError is the maximum length in bytes of an error's text, because it is sent to a model.
const maxError = 4000

// Brief cuts the middle out of a long error text, such as one that repeats a path of a megabyte.
func Brief(text string) string {
	if len(text) <= maxError {
		return text
	}
	const half = (maxError - 10) / 2
	return strings.ToValidUTF8(text[:half], "") + " […] " + strings.ToValidUTF8(text[len(text)-half:], "")
}

// long is an error whose text is shortened.
type long struct{ error }

func (l long) Error() string { return Brief(l.error.Error()) }
func (l long) Unwrap() error { return l.error }

func brief(err error) error {
	if err == nil || len(err.Error()) <= maxError {
		return err
	}
	return long{err}
}
