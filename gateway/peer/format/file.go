package format

import (
	"errors"
	"io/fs"
	"os"
)

// WithoutPath removes the operation and path that package os puts before an error: callers name the
// path themselves.
func WithoutPath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}
