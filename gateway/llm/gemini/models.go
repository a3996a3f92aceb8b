package gemini

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// maxPages limits the pages of a list of models.
const maxPages = 100

// Models returns the models that the key may use and that can chat.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	var out []protocol.ModelInfo
	token := ""
	for range maxPages {
		query := url.Values{"pageSize": {"1000"}}
		if token != "" {
			query.Set("pageToken", token)
		}
		request, err := m.httpRequest(pathPrefix+"models?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		data, err := ask.Read(ctx, m.Options, request)
		if err != nil {
			return nil, err
		}
		var page modelList
		if err := ask.Decode(data, &page); err != nil {
			return nil, err
		}
		for _, l := range page.Models {
			if l.canChat() {
				out = append(out, l.info())
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	return out, nil
}

func (l listedModel) id() string { return strings.TrimPrefix(l.Name, "models/") }

// canChat excludes models for embeddings, speech or video, and those that need another API.
func (l listedModel) canChat() bool {
	if l.id() == "" || !slices.Contains(l.SupportedGenerationMethods, "generateContent") {
		return false
	}
	return !slices.ContainsFunc([]string{"embedding", "-tts", "-live", "audio", "robotics", "computer-use"}, func(word string) bool {
		return strings.Contains(l.id(), word)
	})
}

// info converts Google's description. It does not say which models support images or tools: every
// Gemini model does, except that the image models call no tools.
func (l listedModel) info() protocol.ModelInfo {
	id := l.id()
	gemini := strings.HasPrefix(id, "gemini-")
	return protocol.ModelInfo{
		ID: id, Name: l.DisplayName, ContextWindow: l.InputTokenLimit, MaxOutput: l.OutputTokenLimit,
		Thinking: l.Thinking, Images: gemini, Tools: gemini && !strings.Contains(id, "image"),
	}
}
