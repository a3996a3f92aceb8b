package llm

import (
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// maxCallID is how long an id may be that is made here: OpenAI takes none that is longer.
const maxCallID = 40

// ids are those of the calls of a conversation so far, in plain, with the last number that each was given. There are servers that count anew in each answer, and others that refuse a conversation with
// one id twice.
type ids map[string]int

// plain is an id as those see it that take letters, digits, _ and - only; two that are the same there are the same.
func plain(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// take returns the id, or one like it when there was such a one. The same conversation gives the same ids, however often and however far it is sent.
func (u ids) take(id string) string {
	key, out := plain(id), id
	n := u[key]
	for u[plain(out)] > 0 {
		n++
		tail := "_" + strconv.Itoa(n)
		out = id[:min(len(id), maxCallID-len(tail))] + tail
	}
	u[key] = max(n, 1)
	u[plain(out)] = max(u[plain(out)], 1)
	return out
}

// unique gives the calls of an answer ids that no earlier one has. The message given is not changed.
func (u ids) unique(m protocol.Message) protocol.Message {
	cloned := false
	for i, b := range m.Content {
		if b.Type != protocol.BlockToolCall {
			continue
		}
		id := u.take(b.ID)
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
