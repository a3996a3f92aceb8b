package llm

import (
	"fmt"

	"fairlead/gateway/protocol"
)

// Repair makes a stored conversation one that every provider accepts: notices are left out, what the person ran themself becomes plain text
// of theirs, every tool call is followed at once by its result (one is made up where none is stored, which would otherwise lock the
// chat for ever), results without calls are dropped, and images become words for a model that cannot see.
func Repair(messages []protocol.Message, info protocol.ModelInfo) []protocol.Message {
	results := make(map[string]protocol.Message)
	for _, m := range messages {
		if m.Role == protocol.RoleToolResult && m.Origin == protocol.OriginPerson {
			results[m.ToolCallID] = m
		}
	}
	var out []protocol.Message
	for _, m := range messages {
		switch {
		case m.Origin == protocol.OriginNotice:
		case m.Origin == protocol.OriginDirect:
			out = append(out, direct(m))
		case m.Role == protocol.RoleToolResult:
			// placed after its call
		case m.Role == protocol.RoleAssistant:
			if len(m.Content) == 0 {
				continue
			}
			out = append(out, m)
			for _, c := range m.Content.Calls() {
				r, ok := results[c.ID]
				if !ok {
					r = protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, ToolName: protocol.ToolName(c.Name), IsError: true, Timestamp: m.Timestamp,
						Content: protocol.Content{protocol.Text("Error: this call was interrupted; its outcome is unknown.")}}
				}
				delete(results, c.ID)
				out = append(out, r)
			}
		default:
			out = append(out, m)
		}
	}
	if !info.Images {
		for i := range out {
			out[i].Content = blind(out[i].Content)
		}
	}
	return out
}

// direct tells the model what the person ran themself, and what came of it.
func direct(m protocol.Message) protocol.Message {
	text := m.Content.Text()
	if m.Role == protocol.RoleToolResult {
		text = "[What the person's own command returned]\n" + text
	} else {
		text = "[The person ran a command themself] " + text
	}
	return protocol.Message{Role: protocol.RoleUser, Timestamp: m.Timestamp, Content: protocol.Content{protocol.Text(text)}}
}

func blind(c protocol.Content) protocol.Content {
	seen := false
	for _, b := range c {
		seen = seen || b.Type == protocol.BlockImage
	}
	if !seen {
		return c
	}
	out := make(protocol.Content, len(c))
	for i, b := range c {
		if b.Type == protocol.BlockImage {
			b = protocol.Text(fmt.Sprintf("[image %s, which this model cannot see]", b.Filename))
		}
		out[i] = b
	}
	return out
}

// EstimateTokens is roughly how many tokens messages take: a quarter of their bytes, and a fixed price for an image. It is for messages whose
// tokens no provider has counted yet.
func EstimateTokens(messages []protocol.Message) int64 {
	var n int64
	for _, m := range messages {
		for _, b := range m.Content {
			n += int64(len(b.Text)+len(b.Thinking)+len(b.Arguments))/4 + 4
			if b.Type == protocol.BlockImage {
				n += 1500
			}
		}
	}
	return n
}

// Price fills in the cost of u from a model's prices, where the provider gave none and the prices are known.
func Price(info protocol.ModelInfo, u *protocol.Usage) {
	if u.Cost != nil || info.PriceIn == nil || info.PriceOut == nil {
		return
	}
	at := func(p *float64, fallback float64) float64 {
		if p == nil {
			return fallback
		}
		return *p
	}
	cost := (float64(u.Input)**info.PriceIn + float64(u.Output)**info.PriceOut +
		float64(u.CacheRead)*at(info.PriceRead, *info.PriceIn) + float64(u.CacheWrite)*at(info.PriceWrite, *info.PriceIn)) / 1e6
	u.Cost = &cost
}
