package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Limits of fs_grep.
const (
	defaultStream = 1_000
	maxStream     = 100_000
	// batchMatches is the number of matches after which a part is sent, and batchTime the time.
	batchMatches = 200
	batchTime    = 50 * time.Millisecond
)

type streamIn struct {
	Path       string `json:"path"`
	Pattern    string `json:"pattern"`
	Include    string `json:"include,omitempty"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Before     int    `json:"before,omitempty"`
	After      int    `json:"after,omitempty"`
	MaxMatches int    `json:"max_matches,omitempty"`
	Hidden     *bool  `json:"hidden,omitempty"`
	Ignored    *bool  `json:"ignored,omitempty"`
}

type streamMatch struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Text   string   `json:"text"` // the first 200 characters
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// streamPart is one part of the result.
type streamPart[M any] struct {
	Matches []M `json:"matches"`
}

type streamOut struct {
	Path      string        `json:"path"`
	Matches   []streamMatch `json:"matches,omitempty"` // if the caller takes no parts
	Count     int           `json:"count"`
	Files     int           `json:"files"` // with matches
	Truncated bool          `json:"truncated,omitempty"`
	// LeftOut lists locations of keys and tokens that were not searched.
	LeftOut  []string `json:"left_out,omitempty"`
	Duration int64    `json:"duration_ms"`
}

// Stream makes the tool fs_grep for programs. It searches like Grep and sends the matches in parts
// while it searches, in no order.
func Stream(scope access.Scope) toolkit.Tool[access.Call] {
	caps := []string{protocol.CapRead, protocol.CapSearch}
	t := toolkit.Define("fs_grep", "Searches in files. For programs.", toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: caps},
		access.ForCalls(scope, runStream))
	return toolkit.WithPreview(t, func(_ context.Context, _ access.Call, in streamIn) (protocol.CallPreview, error) {
		return scope.PreviewRead(in.Path)
	})
}

// check returns which argument is invalid.
func (in streamIn) check() error {
	switch {
	case in.Path == "" || !filepath.IsAbs(workspace.Unspell(in.Path)):
		return protocol.NewFault(protocol.FaultInvalidArgs, "path must be an absolute path on its machine")
	case in.MaxMatches < 0 || in.MaxMatches > maxStream:
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("max_matches must be 1 to %d", maxStream))
	case in.Before < 0 || in.After < 0 || in.Before > maxContext || in.After > maxContext:
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("before and after must be 0 to %d", maxContext))
	}
	return nil
}

// query returns what a call searches for.
func (in streamIn) query(ws *workspace.Root) (q lineQuery, err error) {
	if err := in.check(); err != nil {
		return q, err
	}
	if in.IgnoreCase {
		in.Pattern = "(?i)" + in.Pattern
	}
	if q, err = newLineQuery(in.Pattern, in.Include); err == nil {
		q.base, err = ws.Resolve(in.Path)
	}
	if f := access.FaultOf(err); f != nil {
		return q, f
	} else if err != nil {
		return q, protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
	}
	q.lineOptions = lineOptions{matches: cmp.Or(in.MaxMatches, defaultStream), before: in.Before, after: in.After}
	q.lines, q.hidden, q.ignored = true, in.Hidden, in.Ignored
	return q, nil
}

func runStream(ctx context.Context, ws *workspace.Root, call access.Call, in streamIn) (out streamOut, err error) {
	began := time.Now()
	q, err := in.query(ws)
	if err != nil {
		return out, err
	}
	searching, stop := context.WithCancel(ctx)
	defer stop()
	g, done, err := q.start(searching, ws, call.Target)
	if err != nil {
		return out, cmp.Or(ctx.Err(), err)
	}
	defer done()
	s := &stream[streamMatch]{limit: q.matches, found: make(chan []streamMatch, searchers), send: call.Chunk, stop: stop}
	g.emit = func(path string, found []grepMatch) { s.add(searching, streamMatches(path, found)) }
	var sender crash.Group
	sender.Go(func() { s.run(ctx) })
	_, err = g.run()
	close(s.found)
	sender.Wait()
	if err := cmp.Or(ctx.Err(), err, g.unreadable); err != nil {
		return out, err
	}
	return streamOut{
		Path: g.base.String(), Matches: s.rest, Count: s.count, Files: s.files, Truncated: s.full, LeftOut: g.exclusions.skippedPaths(),
		Duration: time.Since(began).Milliseconds(),
	}, s.err
}

// stream sends matches in parts. Its goroutine run owns the fields below found.
type stream[M any] struct {
	limit int
	found chan []M // of one file each
	send  func(ctx context.Context, chunk json.RawMessage) error
	stop  func() // ends the search

	rest         []M // not sent yet
	count, files int
	full         bool // the limit is reached
	err          error
}

func streamMatches(path string, found []grepMatch) []streamMatch {
	list := make([]streamMatch, len(found))
	for i, m := range found {
		list[i] = streamMatch{Path: workspace.Spell(path), Line: m.Line, Text: m.Content, Before: m.Before, After: m.After}
	}
	return list
}

// add passes on the matches of a file. It waits for the receiver.
func (s *stream[M]) add(ctx context.Context, list []M) {
	select {
	case s.found <- list:
	case <-ctx.Done():
	}
}

// run sends matches until found is closed. If it panics, the search ends with its error.
func (s *stream[M]) run(ctx context.Context) {
	if err := crash.Run("search", func() { s.sendAll(ctx) }); err != nil {
		s.err = err
		s.stop()
	}
}

// sendAll sends the first match at once, and later ones in batches, until found is closed.
func (s *stream[M]) sendAll(ctx context.Context) {
	last := time.Time{}
	tick := time.NewTicker(batchTime)
	defer tick.Stop()
	for {
		select {
		case list, ok := <-s.found:
			if !ok {
				s.flush(ctx)
				return
			}
			if s.full || s.err != nil {
				continue
			}
			if room := s.limit - s.count; len(list) >= room {
				list, s.full = list[:room], true
				s.stop()
			}
			s.count += len(list)
			s.files++
			s.rest = append(s.rest, list...)
		case <-tick.C:
		}
		if len(s.rest) >= batchMatches || len(s.rest) > 0 && time.Since(last) >= batchTime {
			s.flush(ctx)
			last = time.Now()
		}
	}
}

func (s *stream[M]) flush(ctx context.Context) {
	for s.send != nil && s.err == nil && len(s.rest) > 0 {
		part := s.rest[:min(len(s.rest), batchMatches)]
		raw, err := protocol.Marshal(streamPart[M]{part})
		if err == nil {
			err = s.send(ctx, raw)
		}
		if err != nil {
			s.err = err
			s.stop()
		}
		s.rest = s.rest[len(part):]
	}
}
