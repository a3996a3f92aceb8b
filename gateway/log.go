package gateway

import (
	"io"

	"fairlead/gateway/peer/logfile"
)

// OpenLog opens a rotating log file in home's log folder. It is safe for concurrent use.
func OpenLog(home, name string) (io.WriteCloser, error) { return logfile.Open(LogDir(home), name) }
