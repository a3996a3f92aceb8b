package registry

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/peer/keychain"
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

func (r *Registry) withCorrections(m protocol.ModelInfo) protocol.ModelInfo {
	if raw, ok := r.user[m.ID]; ok {
		json.Unmarshal(raw, &m) // it was validated at the start
	}
	return m
}

// complete fills in the values that a provider did not report.
func complete(m, known protocol.ModelInfo) protocol.ModelInfo {
	m.Name = cmp.Or(m.Name, known.Name)
	m.ContextWindow = cmp.Or(m.ContextWindow, known.ContextWindow)
	m.MaxOutput = cmp.Or(m.MaxOutput, known.MaxOutput)
	m.Tools, m.Images, m.Thinking = m.Tools || known.Tools, m.Images || known.Images, m.Thinking || known.Thinking
	if m.PriceIn == nil {
		m.PriceIn, m.PriceOut, m.PriceRead, m.PriceWrite = known.PriceIn, known.PriceOut, known.PriceRead, known.PriceWrite
	}
	return m
}

const (
	// infoLimit is the time in which a server must describe its models before a chat continues
	// without a description.
	infoLimit = 2 * time.Second
	// listAge is the time for which a hosted provider's list is cached, and localAge that for a
	// server on this machine, where a model may be loaded again with another window. failedAge is
	// the time after a failure during which a hosted provider is not queried.
	listAge   = time.Hour
	localAge  = 15 * time.Second
	failedAge = time.Minute
)

type list struct {
	models map[string]protocol.ModelInfo
	until  time.Time
}

func key(p provider, o llm.Options) string { return p.ID + " " + o.BaseURL + " " + o.Key }

func (r *Registry) store(key string, models []protocol.ModelInfo, age time.Duration) {
	byID := make(map[string]protocol.ModelInfo, len(models))
	for _, m := range models {
		byID[m.ID] = m
	}
	r.lists.Store(key, list{byID, time.Now().Add(age)})
}

func (r *Registry) cachedList(key string) list {
	cached, _ := r.lists.Load(key)
	l, _ := cached.(list) // the zero list if none exists
	return l
}

func (r *Registry) fetch(ctx context.Context, p provider, o llm.Options) ([]protocol.ModelInfo, error) {
	models, err := p.list(ctx, o)
	if err != nil {
		return nil, keychain.Hide(err, o.Key)
	}
	for i, m := range models {
		if known, ok := builtIn()[m.ID]; ok && !p.Local {
			m = complete(m, known)
		}
		models[i] = r.withCorrections(m)
	}
	age := listAge
	if p.Local {
		age = localAge
	}
	r.store(key(p, o), models, age)
	return models, nil
}

// info returns the description of a model: the person's corrections, the provider's values, the
// catalogue's values, in this order. An unknown model counts as having every ability: its server
// refuses requests that it does not support.
func (r *Registry) info(ctx context.Context, p provider, o llm.Options, id string) protocol.ModelInfo {
	k := key(p, o)
	have := r.cachedList(k)
	if time.Now().After(have.until) && p.ID != "openai" { // OpenAI's list has only names
		ctx, cancel := context.WithTimeout(ctx, infoLimit)
		defer cancel()
		if _, err := r.fetch(ctx, p, o); err != nil && !p.Local {
			r.store(k, nil, failedAge)
		}
		if fresh := r.cachedList(k); len(fresh.models) > 0 {
			have = fresh
		}
	}
	if m, ok := have.models[id]; ok {
		return m
	}
	if known, ok := builtIn()[id]; ok && !p.Local {
		return r.withCorrections(known)
	}
	return r.withCorrections(protocol.ModelInfo{ID: id, Tools: true, Images: true, Thinking: true})
}
