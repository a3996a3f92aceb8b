package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// step is what passed in one step after a call. The zero value means that nothing did.
type step struct {
	bytes int64
	data  string // checksum of the arguments and the result
	// content is the checksum of a file or of its state, as its machine reports it; empty for
	// anything else.
	content string
	isLook  bool // a state that is recorded already is nothing new
}

// addTo returns the record of the steps after a call with this one.
func (s step) addTo(c protocol.Continuation) protocol.Continuation {
	if s.isLook && s.content == c.SHA256 {
		return c
	}
	sum := s.content
	if sum == "" {
		sum = hexSum([]byte(c.SHA256 + s.data))
	}
	c.Steps, c.Bytes, c.SHA256, c.At = c.Steps+1, c.Bytes+s.bytes, sum, time.Now().UnixMilli()
	return c
}

// stepOf returns what passed in a step with these arguments and this result of a node's tool.
func stepOf(args, result json.RawMessage) (s step) {
	var in struct {
		Signal string `json:"signal"`
		Input  string `json:"input"` // Base64
	}
	var out struct {
		Size   *int64          `json:"size"`
		Offset int64           `json:"offset"`
		Total  int64           `json:"total"`
		SHA256 string          `json:"sha256"`
		State  string          `json:"state"`
		Output string          `json:"output"`
		Entry  json.RawMessage `json:"entry"`
	}
	_ = json.Unmarshal(args, &in)    // those of other tools have other fields
	_ = json.Unmarshal(result, &out) // likewise
	s.content = out.SHA256
	switch {
	case out.Entry != nil: // of fs_stat
		return step{content: hexSum(out.Entry), isLook: true}
	case out.SHA256 != "" && out.Size != nil: // of fs_read
		s.bytes = *out.Size
	case out.SHA256 != "": // of fs_write
		s.bytes = out.Total - out.Offset
	case out.State != "": // of command
		s.bytes = int64(len(out.Output))
	case in.Input != "": // of serve
		s.bytes = int64(len(in.Input)) / 4 * 3
	default:
		s.bytes = int64(len(result))
	}
	if s.bytes == 0 && in.Signal == "" {
		return step{}
	}
	s.data = hexSum(args, result)
	return s
}

func hexSum(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range parts {
		hash.Write(p)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// progressCount records the parts of the result of a step that lasts, such as what a server writes.
type progressCount struct {
	steps Steps
	call  protocol.CallID
	also  func(protocol.ToolProgress) // may be nil

	mu   sync.Mutex // guards the fields below
	sum  step       // that is not recorded yet
	last time.Time  // when the last one was recorded
}

func newProgressCount(steps Steps, s Step) *progressCount {
	return &progressCount{steps: steps, call: s.Call, also: s.OnProgress, last: time.Now()}
}

// add takes a report of the node. At most once a second it waits for the store.
func (c *progressCount) add(report protocol.ToolProgress) {
	if c.also != nil {
		c.also(report)
	}
	if len(report.Chunk) == 0 {
		return
	}
	c.mu.Lock()
	c.sum = step{bytes: c.sum.bytes + int64(len(report.Chunk)), data: hexSum([]byte(c.sum.data), report.Chunk)}
	isDue := time.Since(c.last) >= progressPause
	c.mu.Unlock()
	if isDue {
		c.store()
	}
}

// store records what was added since the last time.
func (c *progressCount) store() {
	c.mu.Lock()
	sum := c.sum
	c.sum, c.last = step{}, time.Now()
	c.mu.Unlock()
	recordStep(context.Background(), c.steps, c.call, sum)
}
