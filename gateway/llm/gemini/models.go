package gemini

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/genai"

	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// Models asks for the models that the key may use and that can chat.
func Models(ctx context.Context, o Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	client, err := m.client()
	if err != nil {
		return nil, err
	}
	ctx, watch := ask.Watched(ctx)
	var out []protocol.ModelInfo
	for listed, err := range client.Models.All(ctx) {
		switch {
		case watch.Err() != nil:
			return nil, watch.Err()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, failure(err)
		}
		if i := info(listed); chats(listed, i.ID) {
			out = append(out, i)
		}
	}
	if watch.Err() != nil {
		return nil, watch.Err()
	}
	return out, nil
}

// chats leaves out what only makes embeddings, speech or films, and what wants another wire.
func chats(listed *genai.Model, id string) bool {
	if id == "" || !slices.Contains(listed.SupportedActions, "generateContent") {
		return false
	}
	return !slices.ContainsFunc([]string{"embedding", "-tts", "-live", "audio", "robotics", "computer-use"}, func(word string) bool {
		return strings.Contains(id, word)
	})
}

// info translates what Google says of a model. It does not tell who sees images or calls tools: all of Gemini does, but for
// the models that draw, which call none.
func info(listed *genai.Model) protocol.ModelInfo {
	i := protocol.ModelInfo{
		ID: strings.TrimPrefix(listed.Name, "models/"), Name: listed.DisplayName,
		ContextWindow: int64(listed.InputTokenLimit), MaxOutput: int64(listed.OutputTokenLimit), Thinking: listed.Thinking,
	}
	gemini := strings.HasPrefix(i.ID, "gemini-")
	i.Images = gemini
	i.Tools = gemini && !strings.Contains(i.ID, "image")
	return i
}
