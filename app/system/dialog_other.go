//go:build !linux && !freebsd && !openbsd && !netbsd

package system

import "context"

// Ask returns [ErrNoDialog].
func Ask(context.Context, string, Question) ([]string, error) { return nil, ErrNoDialog }
