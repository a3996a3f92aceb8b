package agent

import (
	"context"
	"fmt"
	"slices"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// answerRoom is the number of tokens of the context window that are always reserved for the answer.
const answerRoom = 4096

// makeRoom shortens the conversation before the model's context window is full, and reports an
// overflow before the request is sent. It does nothing when the window's size is unknown.
func (r *Run) makeRoom(ctx context.Context) error {
	window := r.Info.ContextWindow
	if window <= 0 {
		return nil
	}
	need := r.estimatedTokens()
	if r.Reserve > 0 && need > r.compactionThreshold() {
		short, err := r.Conversation.Shorten(ctx, min(r.Keep, r.compactionThreshold()/2))
		if err != nil {
			return err
		}
		if short != nil {
			r.History = short
			need = r.estimatedTokens()
		}
	}
	limit := window - min(answerRoom, window/4)
	if need > limit {
		if shorter := r.shorterTexts(int(limit-r.fixedTokens()) * 4); shorter != nil {
			r.omitted = shorter
			need = r.fixedTokens() + llm.EstimateTokens(r.visibleHistory())
		}
	}
	switch {
	case r.fixedTokens() > limit:
		return protocol.ErrContextOverflow.With(fmt.Sprintf(
			"The instructions and the tools alone have about %d tokens, more than %s can read (%d). Turn off skills or MCP servers, shorten the agent's files, or choose a model with a larger context.",
			r.fixedTokens(), r.Ref.ID, window))
	case need > limit:
		return protocol.ErrContextOverflow.With(fmt.Sprintf(
			"This chat has about %d tokens, more than %s can read (%d). Start a new chat, or send /reset to clear this one. Its messages go to the archive.",
			need, r.Ref.ID, window))
	}
	return nil
}

// fixedTokens estimates the tokens of a request without messages: the tools of many nodes fill most
// of a small window.
func (r *Run) fixedTokens() int64 {
	size := len(r.System)
	for _, t := range r.visibleTools() {
		size += len(t.Name) + len(t.Description) + len(t.InputSchema)
	}
	return int64(size) / 4
}

// compactionThreshold returns the number of tokens at which the conversation is shortened: four
// fifths of the window, or less when more must be reserved.
func (r *Run) compactionThreshold() int64 {
	window := r.Info.ContextWindow
	free := min(max(r.Reserve, int64(r.MaxOut)), window/2)
	return min(window*4/5, window-free)
}

// compactAfterOverflow shortens the conversation, once per run, after the provider refused it. It
// reports whether to repeat the step.
func (r *Run) compactAfterOverflow(ctx context.Context) (again bool, err error) {
	r.isCompacted = true
	if r.Reserve <= 0 {
		return false, nil
	}
	keep := min(r.Keep, llm.EstimateTokens(r.History)/3)
	if r.Info.ContextWindow > 0 {
		keep = min(keep, r.Info.ContextWindow/4)
	}
	short, err := r.Conversation.Shorten(ctx, keep)
	if err != nil || short == nil {
		return false, err
	}
	r.History = short
	r.step-- // repeat the same step
	return true, nil
}

// estimatedTokens estimates the number of tokens that the next step reads: the provider's last
// count plus an estimate of the messages since. Counts from before a compaction or an omission are
// ignored.
func (r *Run) estimatedTokens() int64 {
	var counted, from int64
	since := r.visibleHistory()
	visible := since
	if len(r.History) > 0 && r.History[0].Compaction != nil {
		from = r.History[0].Seq
	}
	for i := len(r.History) - 1; i >= 0 && r.History[i].Omitted == nil && r.omitted == nil; i-- {
		if u := r.History[i].Usage; u != nil && u.Total > 0 && r.History[i].Seq >= from {
			counted, since = u.Total, visible[i+1:]
			break
		}
	}
	need := counted + llm.EstimateTokens(since)
	if counted == 0 {
		need += r.fixedTokens()
	}
	return need
}

// warnAboutPictures leaves a notice, once per run, before a picture is sent to a model that cannot
// see it.
func (r *Run) warnAboutPictures(ctx context.Context) error {
	if r.Info.Images || r.hasPictureNotice {
		return nil
	}
	for _, m := range slices.Backward(r.History) {
		switch {
		case m.StopReason == protocol.StopBlind && (m.Omitted == nil || m.Omitted.Pictures), m.Role == protocol.RoleAssistant && m.Origin != protocol.OriginNotice:
			return nil
		case m.OutsideConversation() || !hasPicture(m):
			continue
		}
		return r.postPictureNotice(ctx, r.Ref.ID+" cannot see pictures, according to its provider. It is only told that there is one.", m.Timestamp)
	}
	return nil
}

func (r *Run) postPictureNotice(ctx context.Context, text string, at int64) error {
	r.hasPictureNotice = true
	stored, err := r.Conversation.Append(ctx, protocol.Message{
		RunID: r.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, StopReason: protocol.StopBlind, Timestamp: at, Content: protocol.Content{protocol.Text(text)},
	})
	r.History = append(r.History, stored...)
	return err
}

func hasPicture(m protocol.Message) bool {
	return slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return b.Type == protocol.BlockImage })
}
