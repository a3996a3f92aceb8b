package registry

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"fairlead/gateway/protocol"
)

//go:embed models.json
var modelsJSON []byte

// builtIn holds the known windows and prices of models whose providers report neither. Values that
// a provider reports take precedence.
var builtIn = sync.OnceValue(func() map[string]protocol.ModelInfo {
	var list []protocol.ModelInfo
	if err := json.Unmarshal(modelsJSON, &list); err != nil {
		panic(fmt.Sprintf("models.json: %v", err))
	}
	all := make(map[string]protocol.ModelInfo, len(list))
	for _, m := range list {
		all[m.ID] = m
	}
	return all
})

// userModels reads files in the format of models.json, in which a person corrects or adds models. A
// missing file is not an error; an unreadable one is skipped with a warning.
func userModels(files []string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var list []json.RawMessage
		if err == nil {
			err = json.Unmarshal(data, &list)
		}
		if err != nil {
			slog.Warn("Reading a file of models failed", "path", file, "err", err)
		}
		for _, raw := range list {
			var m protocol.ModelInfo
			if err := json.Unmarshal(raw, &m); err != nil || m.ID == "" {
				slog.Warn("A model without an id, or with a field of the wrong type, is ignored", "path", file, "err", err)
				continue
			}
			all[m.ID] = raw
		}
	}
	return all
}

// corrected returns m with the person's corrections from the files.
func (r *Registry) corrected(m protocol.ModelInfo) protocol.ModelInfo {
	if raw, ok := r.user[m.ID]; ok {
		if err := json.Unmarshal(raw, &m); err != nil {
			// it was validated at the start
			slog.Warn("A model in a file is ignored", "model", m.ID, "err", err)
		}
	}
	return m
}

// complete fills in the values that a provider did not report.
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
