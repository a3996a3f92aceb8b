package local

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

//go:embed models.json
var modelsJSON []byte

// entry is a model of the catalogue. Sizes are in bytes; Ollama's are rounded.
type entry struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Use         string `json:"use"`
	Memory      int64  `json:"memory"` // the model and a context of 16,384 tokens, rounded up
	Ollama      string `json:"ollama"`
	OllamaBytes int64  `json:"ollamaBytes"`
	Repository  string `json:"repository"` // below the mirror
	File        string `json:"file"`
	FileBytes   int64  `json:"fileBytes"`
	SHA256      string `json:"sha256"`
}

var catalogue = sync.OnceValue(func() []entry {
	var list []entry
	if err := json.Unmarshal(modelsJSON, &list); err != nil {
		panic(fmt.Sprintf("models.json: %v", err))
	}
	return list
})

func (m *Models) find(id string) (entry, bool) {
	i := slices.IndexFunc(m.list, func(e entry) bool { return e.ID == id })
	if i < 0 {
		return entry{}, false
	}
	return m.list[i], true
}
