package catalog

import (
	"context"
	"encoding/json"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// remindTime is how often a caller with a stream learns that its call goes on: many programs give up
// after 60 seconds without a sign of life.
const remindTime = 15 * time.Second

// reminder returns the part that says that the call goes on.
func (j *job) reminder() Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting != nil {
		return Part{PartWaiting, encode(j.waiting)}
	}
	return Part{PartWaiting, encode(Waiting{Message: "The call is still running."})}
}

// await passes the parts of a call on and returns its outcome. If ctx ends, the call is cancelled.
// If the person has not answered within the configured time, the call goes on without its caller.
func (c *Catalog) await(ctx context.Context, j *job, emit func(context.Context, Part) error) (Result, error) {
	j.mu.Lock()
	j.callers++
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		j.callers--
		j.mu.Unlock()
	}()
	remind := time.NewTicker(remindTime)
	defer remind.Stop()
	patience := time.NewTimer(time.Duration(c.o.Config().API.WaitMs) * time.Millisecond)
	defer patience.Stop()
	for {
		select {
		case <-j.done:
			err := send(ctx, j, emit)
			if err == nil && ctx.Err() != nil {
				err = FaultOf(ctx.Err())
			}
			if err != nil {
				c.jobs.abandon(j)
				return Result{}, err
			}
			c.jobs.fetched(j)
			if emit == nil && j.err == nil {
				return j.collect(), nil
			}
			return j.result, j.err
		case <-j.news:
			if err := send(ctx, j, emit); err != nil {
				c.jobs.abandon(j)
				return Result{}, err
			}
		case <-remind.C:
			if emit == nil {
				continue
			}
			if err := emit(ctx, j.reminder()); err != nil {
				c.jobs.abandon(j)
				return Result{}, err
			}
		case <-patience.C:
			if fault := j.detach(); fault != nil {
				return Result{}, fault
			}
			patience.Reset(time.Second)
		case <-ctx.Done():
			c.jobs.abandon(j)
			return Result{}, FaultOf(ctx.Err())
		}
	}
}

// collect returns the result with the matches of the parts, for a caller without a stream.
func (j *job) collect() Result {
	var chunks []json.RawMessage
	for _, p := range j.take() {
		if p.Kind == PartChunk {
			chunks = append(chunks, p.Data)
		}
	}
	return Result{WithMatches(j.result.Data, chunks), j.result.Message, j.result.Call}
}

// IsComplete reports whether a result has the matches of its parts, as that of fs_glob has.
func IsComplete(data json.RawMessage) bool {
	var out struct{ Matches json.RawMessage }
	return json.Unmarshal(data, &out) == nil && out.Matches != nil
}

// WithMatches returns a result with the matches of its parts, for an interface whose result must be
// complete.
func WithMatches(data json.RawMessage, chunks []json.RawMessage) json.RawMessage {
	if len(chunks) == 0 || IsComplete(data) {
		return data
	}
	var all []json.RawMessage
	for _, chunk := range chunks {
		var part struct{ Matches []json.RawMessage }
		if json.Unmarshal(chunk, &part) == nil {
			all = append(all, part.Matches...)
		}
	}
	var fields map[string]json.RawMessage
	if len(all) == 0 || json.Unmarshal(data, &fields) != nil {
		return data
	}
	fields["matches"] = encode(all)
	return encode(fields)
}

// send passes the queued parts on. Without a receiver they stay for one that comes later.
func send(ctx context.Context, j *job, emit func(context.Context, Part) error) error {
	if emit == nil {
		return nil
	}
	for _, p := range j.take() {
		if err := emit(ctx, p); err != nil {
			return protocol.NewFault(protocol.FaultCanceled, "the caller has gone")
		}
	}
	return nil
}

// fetched forgets the outcome of a call that waited for the person. One with an idempotency key
// stays for repetitions.
func (s *jobs) fetched(j *job) {
	j.mu.Lock()
	j.isFetched = true
	j.mu.Unlock()
	if j.key == "" {
		s.remove(j)
	}
}

// detach lets a call that waits for the person go on without its caller.
func (j *job) detach() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting == nil {
		return nil
	}
	select {
	case <-j.done:
		return nil
	default:
	}
	j.keep = true
	w := *j.waiting
	f := protocol.NewFault(protocol.FaultApprovalRequired, "Fairlead's owner has not answered yet. Repeat the same call, or ask for its outcome, to go on.")
	return f.With(map[string]any{"approval_id": w.ApprovalID, "call_id": w.CallID, "poll": "/api/v1/calls/" + string(w.CallID), "retry_after_ms": 5000})
}

// abandon cancels a call whose only caller has gone, unless somebody will fetch its outcome. What
// the call has opened ends: nobody has got its ID.
func (s *jobs) abandon(j *job) {
	j.mu.Lock()
	last := j.callers <= 1 && !j.keep
	j.isAbandoned = j.isAbandoned || last
	isLost := last && j.isOver && j.key == "" && !j.isFetched
	j.mu.Unlock()
	if last {
		j.cancel()
	}
	if isLost {
		s.lost(j)
	}
}

// limit cancels the calls of a caller that its present rights p do not allow.
func (s *jobs) limit(p auth.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.running {
		if j.owner != p.Caller() {
			continue
		}
		j.mu.Lock()
		machine := j.machine
		j.mu.Unlock()
		if tool.CheckScopes(p, j.need) != nil || machine != "" && !p.MayUse(machine) {
			j.cancel()
		}
	}
}

var errCancelled = protocol.NewFault(protocol.FaultCanceled, "the call was cancelled")

// encode returns v as JSON. It must be encodable.
func encode(v any) json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
