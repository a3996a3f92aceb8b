package state

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Tokens is a count of tokens: "950", "42k", "1.2M".
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return strings.Replace(fmt.Sprintf("%.1fM", float64(n)/1e6), ".0M", "M", 1)
}

// ModelChoice is a model that can be chosen for a chat.
type ModelChoice struct {
	Ref  protocol.ModelRef
	Name string
}

// operator answers without a model; it can always be chosen.
var operator = ModelChoice{Ref: protocol.ModelRef{Provider: "operator", ID: "built-in"}, Name: "Built-in operator"}

// OperatorModel is what questions call it.
const OperatorModel = "operator/built-in"

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
				choices = append(choices, choicesOf(status.Model, r.Models)...)
			} else if status.Model.ID != "" {
				choices = append(choices, ModelChoice{Ref: status.Model, Name: status.Model.ID})
			}
		}
		a.Value.Update(func(v View) View { v.Models = choices; return v })
	})
}

// choicesOf makes choices of a provider's list: those with tools, which the agent needs, unless it says of none that it has them. The one that is in
// use is among them in any case.
func choicesOf(now protocol.ModelRef, models []protocol.ModelInfo) []ModelChoice {
	tools := false
	for _, m := range models {
		tools = tools || m.Tools
	}
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
