package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Tokens formats a number of tokens: "950", "42k", "1.2M".
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return strings.Replace(fmt.Sprintf("%.1fM", float64(n)/1e6), ".0M", "M", 1)
}

// Operator is the provider of the model that works without a key.
const Operator = "operator"

// operator works without a model; it is always available.
var operator = feed.ModelChoice{Ref: protocol.ModelRef{Provider: Operator, ID: "built-in"}, Name: "Built-in operator"}

// OperatorModel is its model name in requests.
const OperatorModel = "operator/built-in"

// maxChoices limits the menu's length; the settings list all models.
const maxChoices = 40

// Models finds and selects models.
type Models struct{ app *App }

// load asks only the current provider for its models: no unwanted requests are sent. Without an
// answer the list stays short, and the settings show why.
func (m Models) load() {
	m.app.tasks.StartRequest(func(ctx context.Context) {
		status, err := feed.Call(ctx, m.app, protocol.StatusGet, protocol.Empty{})
		if err != nil {
			return
		}
		choices := []feed.ModelChoice{operator}
		if p := status.Model.Provider; p != "" && p != operator.Ref.Provider {
			if r, err := feed.Call(ctx, m.app, protocol.ModelsList, protocol.ModelsListParams{Provider: p}); err == nil {
				choices = append(choices, choicesOf(status.Model, r.Models)...)
			} else if status.Model.ID != "" {
				choices = append(choices, feed.ModelChoice{Ref: status.Model, Name: status.Model.ID})
			}
		}
		m.app.Value.Update(func(v *feed.View) { v.Models = choices })
	})
}

// Detect searches for model servers on the gateway's machine. It blocks for some seconds.
func (m Models) Detect(ctx context.Context) ([]protocol.DetectedServer, error) {
	r, err := feed.Call(ctx, m.app, protocol.ModelsDetect, protocol.Empty{})
	return r.Servers, err
}

// UseServer makes a detected server the default, with its first model with tools, if any.
func (m Models) UseServer(ctx context.Context, s protocol.DetectedServer) (protocol.ModelRef, error) {
	if len(s.Models) == 0 {
		return protocol.ModelRef{}, errors.New(s.Name + " has no model loaded. Load one there, then try again")
	}
	ref := protocol.ModelRef{Provider: s.Provider, ID: s.Models[0].ID}
	if model, ok := lists.Find(s.Models, func(i protocol.ModelInfo) bool { return i.Tools }); ok {
		ref.ID = model.ID
	}
	if err := m.app.Set(ctx, "providers."+s.Provider+".baseUrl", s.BaseURL); err != nil {
		return ref, err
	}
	return ref, m.Use(ctx, ref)
}

// Use sets the default model and leaves the thinking level unchanged. It blocks.
func (m Models) Use(ctx context.Context, ref protocol.ModelRef) error {
	type model struct {
		protocol.ModelRef
		ThinkingLevel json.RawMessage `json:"thinkingLevel,omitempty"`
	}
	r, err := feed.Call(ctx, m.app, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model.thinkingLevel"})
	if err != nil {
		return err
	}
	return m.app.Set(ctx, "model", model{ref, r.Value})
}

// choicesOf returns the current model and those with tool support, or all if none reports it.
func choicesOf(now protocol.ModelRef, models []protocol.ModelInfo) []feed.ModelChoice {
	tools := slices.ContainsFunc(models, func(m protocol.ModelInfo) bool { return m.Tools })
	var list []feed.ModelChoice
	for _, m := range models {
		used := m.ID == now.ID
		if !used && (tools && !m.Tools || len(list) >= maxChoices) {
			continue
		}
		list = append(list, feed.ModelChoice{Ref: protocol.ModelRef{Provider: now.Provider, ID: m.ID}, Name: cmp.Or(m.Name, m.ID)})
	}
	return list
}

// ThinkingName returns the name of a thinking level; empty is the model's own default.
func ThinkingName(level string) string {
	name := map[string]string{"": "Model default", "none": "Off", "xhigh": "Very high"}[level]
	return cmp.Or(name, format.Capital(level))
}
