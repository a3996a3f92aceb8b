package feed

import (
	"cmp"
	"context"
	"slices"

	"fairlead/gateway/protocol"
)

// ModelChoice is a model that can be selected for a chat.
type ModelChoice struct {
	Ref  protocol.ModelRef
	Name string
}

// Operator is the provider of the model that works without a key.
const Operator = "operator"

// operator works without a model; it is always available.
var operator = ModelChoice{Ref: protocol.ModelRef{Provider: Operator, ID: "built-in"}, Name: "Built-in operator"}

// OperatorModel is its model name in requests.
const OperatorModel = "operator/built-in"

// maxChoices limits the menu's length; the settings list all models.
const maxChoices = 40

// loadModels asks only the current provider for its models: no unwanted requests are sent. Without an
// answer the list stays short, and the settings show why.
func (to follower) loadModels() {
	f := to.feed
	f.Tasks.StartRequest(func(ctx context.Context) {
		status, err := Call(ctx, f, protocol.StatusGet, protocol.Empty{})
		if err != nil {
			return
		}
		choices := []ModelChoice{operator}
		if p := status.Model.Provider; p != "" && p != operator.Ref.Provider {
			if r, err := Call(ctx, f, protocol.ModelsList, protocol.ModelsListParams{Provider: p}); err == nil {
				choices = append(choices, choicesOf(status.Model, r.Models)...)
			} else if status.Model.ID != "" {
				choices = append(choices, ModelChoice{Ref: status.Model, Name: status.Model.ID})
			}
		}
		f.Models.Update(func(m *[]ModelChoice) { *m = choices })
	})
}

// choicesOf returns the current model and those with tool support, or all if none reports it.
func choicesOf(now protocol.ModelRef, models []protocol.ModelInfo) []ModelChoice {
	tools := slices.ContainsFunc(models, func(m protocol.ModelInfo) bool { return m.Tools })
	var list []ModelChoice
	for _, m := range models {
		used := m.ID == now.ID
		if !used && (tools && !m.Tools || len(list) >= maxChoices) {
			continue
		}
		list = append(list, ModelChoice{Ref: protocol.ModelRef{Provider: now.Provider, ID: m.ID}, Name: cmp.Or(m.Name, m.ID)})
	}
	return list
}
