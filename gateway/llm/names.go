package llm

import (
	"context"
	"iter"
	"slices"

	"fairlead/gateway/protocol"
)

// fitted is a model that gets the tools of every node under names that model APIs accept. Outside
// of it the tools have their own names.
type fitted struct{ Model }

// FitNames wraps a model so that it gets [protocol.ToolName.ForModel] of each tool, in the list of
// tools and in the conversation, and converts the names in its calls back.
func FitNames(m Model) Model { return fitted{m} }

// Stream implements [Model].
func (f fitted) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	back := make(map[string]string) // by the name that the model gets
	for i, t := range req.Tools {
		if name := string(protocol.ToolName(t.Name).ForModel()); name != t.Name {
			if len(back) == 0 {
				req.Tools = slices.Clone(req.Tools)
			}
			back[name], req.Tools[i].Name = t.Name, name
		}
	}
	req.Messages = fittedMessages(req.Messages)
	if len(back) == 0 {
		return f.Model.Stream(ctx, req)
	}
	return func(yield func(Event, error) bool) {
		for e, err := range f.Model.Stream(ctx, req) {
			if name, ok := back[e.Block.Name]; ok {
				e.Block.Name = name
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// fittedMessages does not change its argument, which is the stored conversation.
func fittedMessages(list []protocol.Message) []protocol.Message {
	out := slices.Clone(list)
	for i, m := range out {
		out[i].ToolName = m.ToolName.ForModel()
		cloned := false
		for j, b := range m.Content {
			name := string(protocol.ToolName(b.Name).ForModel())
			if b.Type != protocol.BlockToolCall || name == b.Name {
				continue
			}
			if !cloned {
				out[i].Content, cloned = slices.Clone(m.Content), true
			}
			out[i].Content[j].Name = name
		}
	}
	return out
}
