package openai

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// Parameters that not every server or model accepts.
const (
	paramStreamOptions = "stream_options"
	paramMaxTokens     = "max_tokens"
	paramMaxCompletion = "max_completion_tokens"
	paramEffort        = "reasoning_effort"
	paramCacheKey      = "prompt_cache_key"
	paramReasoning     = "reasoning"
	paramInclude       = "include"
	paramKwargs        = "chat_template_kwargs"
)

// refused records which parameters a server has refused. The zero value is empty.
type refused struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (r *refused) has(param string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[param]
}

// learn looks for a parameter of body in a server's reason for a 400 or 422 and reports whether the
// request should be sent again without it.
func (r *refused) learn(f *ask.Failure, body []byte) bool {
	if f.Status != 400 && f.Status != 422 || errors.Is(f, protocol.ErrContextOverflow) {
		return false
	}
	for _, p := range []struct{ param, word string }{
		{paramStreamOptions, "stream_options"},
		{paramMaxCompletion, "max_completion_tokens"},
		{paramMaxTokens, "max_tokens"},
		{paramKwargs, "chat_template_kwargs"},
		{paramCacheKey, "prompt_cache_key"},
		{paramInclude, "ncrypted"},
		{paramInclude, "include"},
		{paramEffort, "reasoning_effort"},
		{paramReasoning, "reasoning"},
	} {
		// A reason may name two parameters, the second as advice; only one of them was sent.
		if !strings.Contains(f.Reason, p.word) || !bytes.Contains(body, []byte(`"`+p.param+`":`)) {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.seen[p.param] {
			return false
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[p.param] = true
		return true
	}
	return false
}
