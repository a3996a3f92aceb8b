package registry

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/llm/ask"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

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

// lists caches the providers' lists of models.
type lists struct {
	mu sync.Mutex
	by map[string]list
}

type list struct {
	models map[string]protocol.ModelInfo
	until  time.Time
}

func key(p provider, o ask.Options) string { return p.ID + " " + o.BaseURL + " " + o.Key }

func (l *lists) put(k string, models []protocol.ModelInfo, age time.Duration) {
	by := make(map[string]protocol.ModelInfo, len(models))
	for _, m := range models {
		by[m.ID] = m
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]list{}
	}
	l.by[k] = list{by, time.Now().Add(age)}
}

func (l *lists) get(k string) (models map[string]protocol.ModelInfo, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	have := l.by[k]
	return have.models, time.Now().Before(have.until)
}

// fetch queries a provider's list and caches it.
func (r *Registry) fetch(ctx context.Context, p provider, o ask.Options) ([]protocol.ModelInfo, error) {
	models, err := p.list(ctx, o)
	if err != nil {
		return nil, keychain.Hide(err, o.Key)
	}
	for i, m := range models {
		if known, ok := builtIn()[m.ID]; ok && !p.Local {
			m = complete(m, known)
		}
		models[i] = r.corrected(m)
	}
	age := listAge
	if p.Local {
		age = localAge
	}
	r.lists.put(key(p, o), models, age)
	return models, nil
}

// info returns the description of a model: the person's corrections, the provider's values, the
// catalogue's values, in this order. An unknown model counts as having every ability: its server
// refuses requests that it does not support.
func (r *Registry) info(ctx context.Context, p provider, o ask.Options, id string) protocol.ModelInfo {
	k := key(p, o)
	models, fresh := r.lists.get(k)
	if !fresh && p.ID != "openai" { // OpenAI's list has only names
		ctx, cancel := context.WithTimeout(ctx, infoLimit)
		defer cancel()
		if _, err := r.fetch(ctx, p, o); err != nil && !p.Local {
			r.lists.put(k, nil, failedAge)
		}
		if now, _ := r.lists.get(k); len(now) > 0 {
			models = now
		}
	}
	if m, ok := models[id]; ok {
		return m
	}
	if known, ok := builtIn()[id]; ok && !p.Local {
		return r.corrected(known)
	}
	return r.corrected(protocol.ModelInfo{ID: id, Tools: true, Images: true, Thinking: true})
}
