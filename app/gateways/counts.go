package gateways

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"

	"fairlead/app/feed"
)

// WriteCounts writes the number of pending approvals for the parent process, one per line.
func WriteCounts(w io.Writer, views iter.Seq[feed.View]) {
	last := 0
	for v := range views {
		n := v.Needs()
		if n == last {
			continue
		}
		last = n
		if _, err := fmt.Fprintln(w, n); err != nil {
			return
		}
	}
}

// readCounts reads the output of WriteCounts. It ignores other lines, such as a library's output.
func readCounts(r io.Reader, onCount func(int)) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if n, err := strconv.Atoi(lines.Text()); err == nil && n >= 0 {
			onCount(n)
		}
	}
	io.Copy(io.Discard, r) //nolint:errcheck // a line that is too long
}
