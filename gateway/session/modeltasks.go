package session

import (
	"context"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
)

// openModel is a model that is ready for requests.
type openModel struct {
	llm.Model
	ref  protocol.ModelRef
	info protocol.ModelInfo
}

// modelTasks are requests to models besides the steps of runs. They keep to the budget, and what
// they use is counted.
type modelTasks struct {
	models   Models
	budget   Budget
	usage    *store.Usage
	settings settings
}

func (t modelTasks) open(ctx context.Context, ref protocol.ModelRef) (*openModel, error) {
	model, info, err := t.models.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &openModel{model, ref, info}, nil
}

// summarize summarizes messages.
func (t modelTasks) summarize(ctx context.Context, m openModel, previous string, msgs []protocol.Message, focus string) (summary.Summary, error) {
	if err := t.budget.Check(ctx, m.info); err != nil {
		return summary.Summary{}, err
	}
	sum, err := t.summarizer(m).Summarize(ctx, previous, msgs, focus)
	if err != nil {
		return sum, err
	}
	return sum, t.count(ctx, m, &sum.Usage)
}

// title names a chat after its first exchange.
func (t modelTasks) title(ctx context.Context, m openModel, question, answer string) (title string, used protocol.Usage, err error) {
	if err := t.budget.Check(ctx, m.info); err != nil {
		return "", used, err
	}
	title, used, err = t.summarizer(m).Title(ctx, question, answer)
	if err != nil {
		return "", used, err
	}
	return title, used, t.count(ctx, m, &used)
}

func (t modelTasks) summarizer(m openModel) summary.Summarizer {
	return summary.Summarizer{Model: m, Info: m.info, Timeout: t.settings.modelTimeout()}
}

// count sets the cost of a request and counts it.
func (t modelTasks) count(ctx context.Context, m openModel, used *protocol.Usage) error {
	llm.Complete(m.info, used)
	return t.usage.Add(context.WithoutCancel(ctx), m.ref, *used)
}
