package openai

import "fairlead/gateway/protocol"

// usage holds the token counts of a chat server, in all known spellings.
type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	In         *struct {
		Cached int64 `json:"cached_tokens"`
		Write  int64 `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Out *struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Hit  int64    `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cost *float64 `json:"cost"`                    // OpenRouter, in dollars
}

// count converts u: input without cached tokens, output with thoughts.
func (u *usage) count() protocol.Usage {
	var out protocol.Usage
	out.CacheRead = u.Hit
	if u.In != nil {
		out.CacheRead = max(out.CacheRead, u.In.Cached)
		out.CacheWrite = u.In.Write
	}
	out.Input = max(0, u.Prompt-out.CacheRead-out.CacheWrite)
	out.Output = max(0, u.Completion)
	if u.Out != nil {
		out.Reasoning = u.Out.Reasoning
		// xAI counts thoughts in addition to the completion, all others within it.
		if out.Reasoning > 0 && u.Total == u.Prompt+u.Completion+out.Reasoning {
			out.Output += out.Reasoning
		}
	}
	out.Total = out.Input + out.Output + out.CacheRead + out.CacheWrite
	out.Cost = u.Cost
	return out
}
