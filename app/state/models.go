package state

import (
	"context"

	"fairlead/gateway/protocol"
)

// ModelChoice is a model that can be chosen for a chat.
type ModelChoice struct {
	Ref  protocol.ModelRef
	Name string
}

// operator answers without a model; it can always be chosen.
var operator = ModelChoice{Ref: protocol.ModelRef{Provider: "operator", ID: "built-in"}, Name: "Built-in operator"}

// maxChoices bounds a menu; the settings show all.
const maxChoices = 40

// loadModels asks the provider in use for its models. Others are not asked: that would send requests which nobody wanted. A provider
// that does not answer leaves the list short, and the settings say why.
func (a *App) loadModels() {
	a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		status, err := Call(ctx, a, protocol.StatusGet, protocol.Empty{})
		if err != nil {
			return
		}
		choices := []ModelChoice{operator}
		if p := status.Model.Provider; p != "" && p != operator.Ref.Provider {
			if r, err := Call(ctx, a, protocol.ModelsList, protocol.ModelsListParams{Provider: p}); err == nil {
				choices = append(choices, choicesOf(p, r.Models)...)
			} else if status.Model.ID != "" {
				choices = append(choices, ModelChoice{Ref: status.Model, Name: status.Model.ID})
			}
		}
		a.Value.Update(func(v View) View { v.Models = choices; return v })
	})
}

// choicesOf makes choices of a provider's list: those with tools, which the agent needs, unless it says of none that it has them.
func choicesOf(provider string, models []protocol.ModelInfo) []ModelChoice {
	tools := false
	for _, m := range models {
		tools = tools || m.Tools
	}
	var list []ModelChoice
	for _, m := range models {
		if len(list) == maxChoices {
			break
		}
		if tools && !m.Tools {
			continue
		}
		name := m.Name
		if name == "" {
			name = m.ID
		}
		list = append(list, ModelChoice{Ref: protocol.ModelRef{Provider: provider, ID: m.ID}, Name: name})
	}
	return list
}
