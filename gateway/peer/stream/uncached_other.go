//go:build !linux

package stream

import "os"

// uncached exists on Linux only.
type uncached struct{}

func newUncached(*os.File, int64, int64) *uncached { return nil }

func (*uncached) write([]byte) error { return nil }
func (*uncached) wait() error        { return nil }
func (*uncached) end(bool) error     { return nil }
