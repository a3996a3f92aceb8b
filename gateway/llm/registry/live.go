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
	// infoLimit is how long a server may take to describe its models before a chat goes on without.
	infoLimit = 2 * time.Second
	// listAge is how long a hosted provider's list is good for, and localAge one of this machine, where a model may be loaded again
	// with another window. failedAge is how long a hosted provider is not asked after a failure.
	listAge   = time.Hour
	localAge  = 15 * time.Second
	failedAge = time.Minute
)

// lists remembers what providers said of their models.
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

// fetch asks a provider for its list and remembers it.
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

// info is what is known of a model: what the person wrote, what the provider says, what the catalogue says, in this order. A model of
// which nothing is known may do everything: its server will refuse what it cannot.
func (r *Registry) info(ctx context.Context, p provider, o ask.Options, id string) protocol.ModelInfo {
	k := key(p, o)
	models, fresh := r.lists.get(k)
	if !fresh && p.ID != "openai" { // OpenAI's list tells names only
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
