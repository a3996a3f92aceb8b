package servers

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/format"
)

// Limits of the log of a server.
const (
	maxLines = 500
	maxLine  = 2000 // bytes
)

// ring holds the last lines of a log. It is safe for concurrent use.
type ring struct {
	mu      sync.Mutex // guards the fields below
	all     []string
	partial strings.Builder // a line whose end has not arrived
}

// addf adds a line of our own, with the time.
func (r *ring) addf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(time.Now().Format("15:04:05 ") + fmt.Sprintf(format, args...))
}

// Write adds output of the server. It always succeeds.
func (r *ring) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		text, ended := strings.CutSuffix(line, "\n")
		if room := maxLine - r.partial.Len(); room > 0 {
			r.partial.WriteString(text[:min(len(text), room)])
		}
		if ended {
			r.append(r.partial.String())
			r.partial.Reset()
		}
	}
	return len(b), nil
}

func (r *ring) append(line string) {
	r.all = append(r.all, format.Line(line, maxLine))
	if len(r.all) > maxLines {
		r.all = slices.Delete(r.all, 0, len(r.all)-maxLines)
	}
}

// lines returns the lines, oldest first.
func (r *ring) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := append([]string{}, r.all...)
	if r.partial.Len() > 0 {
		list = append(list, format.Line(r.partial.String(), maxLine))
	}
	return list
}
