package toolkit

import (
	"fmt"
	"math"
	"strings"
)

// maxWholeNumber is the largest whole number that JSON carries reliably. A log of 10 GB may have
// more lines than 32 bits can count.
const maxWholeNumber = 1 << 53

// WholeNumber reads an optional argument that is a whole number of 0 or more; nil returns
// otherwise. Models write both 10 and 10.0. Numbers above 2^53 are reduced to that.
func WholeNumber(name string, v *float64, otherwise int64) (int64, error) {
	if v == nil {
		return otherwise, nil
	}
	if *v < 0 || *v != math.Trunc(*v) {
		return 0, &InputError{Err: fmt.Errorf("%s must be a whole number of 0 or more, not %v", name, *v)}
	}
	return int64(min(*v, maxWholeNumber)), nil
}

// Failf returns an error whose text the model gets unchanged. Unlike other errors it is a sentence
// or a text of the original system, which peers compare.
func Failf(format string, args ...any) error { return fmt.Errorf(format, args...) }

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
