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

// builtIn is what is known of models whose providers tell neither window nor price. What a provider says itself is newer.
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

// userModels reads files of the form of models.json, in which a person corrects or adds what is known of models. A file that is
// not there is no error; one that cannot be read is left out, with a warning.
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
			slog.Warn("A file about models cannot be read", "path", file, "err", err)
		}
		for _, raw := range list {
			var m protocol.ModelInfo
			if err := json.Unmarshal(raw, &m); err != nil || m.ID == "" {
				slog.Warn("A model without an id, or with a field of a wrong type, is left out", "path", file, "err", err)
				continue
			}
			all[m.ID] = raw
		}
	}
	return all
}

// corrected is m with what the person wrote about it in a file.
func (r *Registry) corrected(m protocol.ModelInfo) protocol.ModelInfo {
	if raw, ok := r.user[m.ID]; ok {
		if err := json.Unmarshal(raw, &m); err != nil {
			slog.Warn("A model in a file is left out", "model", m.ID, "err", err) // it was read at the start
		}
	}
	return m
}

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
