package llm

import (
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// maxCallID is the longest ID that is generated here: OpenAI accepts no longer one.
const maxCallID = 40

// ids are those of the calls of a conversation so far, normalized by plain, with the last number
// given to each. Some servers number calls anew in each answer, and others refuse a conversation
// with a duplicate ID.
type ids map[string]int

// plainID returns an ID as seen by servers that accept only letters, digits, _ and -; two IDs that
// are equal there count as equal.
func plainID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// assign returns the ID, or a variant if it was used before. The result depends only on the
// conversation so far, so that a conversation always gets the same IDs.
func (u ids) assign(id string) string {
	key, out := plainID(id), id
	n := u[key]
	for u[plainID(out)] > 0 {
		n++
		tail := "_" + strconv.Itoa(n)
		out = id[:min(len(id), maxCallID-len(tail))] + tail
	}
	u[key] = max(n, 1)
	u[plainID(out)] = max(u[plainID(out)], 1)
	return out
}

// unique gives the calls of an answer IDs that no earlier call has. The given message is not
// changed.
func (u ids) unique(m protocol.Message) protocol.Message {
	cloned := false
	for i, b := range m.Content {
		if b.Type != protocol.BlockToolCall {
			continue
		}
		id := u.assign(b.ID)
		if id == b.ID {
			continue
		}
		if !cloned {
			m.Content, cloned = slices.Clone(m.Content), true
		}
		m.Content[i].ID = id
	}
	return m
}
