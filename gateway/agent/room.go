package agent

import (
	"context"
	"fmt"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// answerRoom is how many tokens of the window are kept free for the answer, whatever is configured.
const answerRoom = 4096

// room makes sure that the conversation fits the model's window: it is shortened before it is full, and an overflow is reported before it happens. Of a
// model whose window is not known nothing is assumed.
func (r *Run) room(ctx context.Context) error {
	window := r.Info.ContextWindow
	if window <= 0 {
		return nil
	}
	need := r.need()
	if r.Reserve > 0 && need > r.soft() {
		short, err := r.Sink.Shorten(ctx, min(r.Keep, r.soft()/2))
		if err != nil {
			return err
		}
		if short != nil {
			r.History = short
			need = r.need()
		}
	}
	if need > window-min(answerRoom, window/4) {
		return protocol.ErrContextOverflow.With(fmt.Sprintf(
			"This chat has about %d tokens, more than %s can read (%d). Begin a new chat, or send /reset to clear this one; it is kept in the archive.",
			need, r.Ref.ID, window))
	}
	return nil
}

// soft is how many tokens the conversation may have before it is shortened: four fifths of the window, or less when more is to be kept free.
func (r *Run) soft() int64 {
	window := r.Info.ContextWindow
	free := min(max(r.Reserve, int64(r.MaxOut)), window/2)
	return min(window*4/5, window-free)
}

// overflowed shortens the conversation after the provider refused it, once in a run. It reports whether the step is to be tried again.
func (r *Run) overflowed(ctx context.Context) (again bool, err error) {
	r.shortened = true
	if r.Reserve <= 0 {
		return false, nil
	}
	keep := min(r.Keep, llm.EstimateTokens(r.History)/3)
	if r.Info.ContextWindow > 0 {
		keep = min(keep, r.Info.ContextWindow/4)
	}
	short, err := r.Sink.Shorten(ctx, keep)
	if err != nil || short == nil {
		return false, err
	}
	r.History = short
	r.step-- // the same step again
	return true, nil
}

// need is about how many tokens the next step reads: what the provider counted last, and an estimate of what came since. Counts from before the
// conversation was shortened do not hold.
func (r *Run) need() int64 {
	var counted, from int64
	since := r.History
	if len(r.History) > 0 && r.History[0].Compaction != nil {
		from = r.History[0].Seq
	}
	for i := len(r.History) - 1; i >= 0; i-- {
		if u := r.History[i].Usage; u != nil && u.Total > 0 && r.History[i].Seq >= from {
			counted, since = u.Total, r.History[i+1:]
			break
		}
	}
	need := counted + llm.EstimateTokens(since)
	if counted == 0 {
		size := len(r.System)
		for _, t := range r.Tools() { // of many machines they are most of a small window
			size += len(t.Name) + len(t.Description) + len(t.InputSchema)
		}
		need += int64(size) / 4
	}
	return need
}
