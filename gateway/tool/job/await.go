package job

import (
	"context"
	"time"

	"fairlead/gateway/tool"
)

// remindTime is how often a caller with a stream learns that its call goes on: many programs give up
// after 60 seconds without a sign of life.
const remindTime = 15 * time.Second

// await passes the parts of a call on and returns its outcome. If ctx ends, the call is cancelled.
// If the person has not answered within the configured time, the call goes on without its caller.
func (s *Jobs) await(ctx context.Context, j *Job, emit func(context.Context, Part) error) (Result, error) {
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
	patience := time.NewTimer(time.Duration(s.config().API.WaitMs) * time.Millisecond)
	defer patience.Stop()
	for {
		select {
		case <-j.done:
			err := j.send(ctx, emit)
			if err == nil && ctx.Err() != nil {
				err = tool.FaultOf(ctx.Err())
			}
			if err != nil {
				j.abandon()
				return Result{}, err
			}
			s.forgetFetched(j)
			if emit == nil && j.err == nil {
				return j.collect(), nil
			}
			return j.result, j.err
		case <-j.news:
			if err := j.send(ctx, emit); err != nil {
				j.abandon()
				return Result{}, err
			}
		case <-remind.C:
			if emit == nil {
				continue
			}
			if err := emit(ctx, j.reminder()); err != nil {
				j.abandon()
				return Result{}, err
			}
		case <-patience.C:
			if fault := j.detach(); fault != nil {
				return Result{}, fault
			}
			patience.Reset(time.Second)
		case <-ctx.Done():
			j.abandon()
			return Result{}, tool.FaultOf(ctx.Err())
		}
	}
}
