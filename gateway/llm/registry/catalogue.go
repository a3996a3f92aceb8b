package registry

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"fairlead/gateway/protocol"
)

//go:embed models.json
var modelsJSON []byte

// catalogue is what is known of models whose providers tell neither window nor price. The newest word is the provider's own.
var catalogue = func() map[string]protocol.ModelInfo {
	var list []protocol.ModelInfo
	if err := json.Unmarshal(modelsJSON, &list); err != nil {
		panic(fmt.Sprintf("models.json: %v", err))
	}
	all := make(map[string]protocol.ModelInfo, len(list))
	for _, m := range list {
		all[m.ID] = m
	}
	return all
}()

// complete fills what a provider did not say.
func complete(m, known protocol.ModelInfo) protocol.ModelInfo {
	if m.Name == "" {
		m.Name = known.Name
	}
	if m.ContextWindow == 0 {
		m.ContextWindow = known.ContextWindow
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = known.MaxOutput
	}
	m.Tools, m.Images, m.Thinking = m.Tools || known.Tools, m.Images || known.Images, m.Thinking || known.Thinking
	if m.PriceIn == nil {
		m.PriceIn, m.PriceOut, m.PriceRead, m.PriceWrite = known.PriceIn, known.PriceOut, known.PriceRead, known.PriceWrite
	}
	return m
}
