package openai

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// paths answers each path with a body, everything else with 404.
func paths(t *testing.T, bodies map[string]string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestModelsReadsTheListOfEveryProvider(t *testing.T) {
	for name, tc := range map[string]struct {
		host   string
		bodies map[string]string
		want   []protocol.ModelInfo
	}{
		"OpenAI": {
			hostOpenAI,
			map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gpt-5","object":"model","owned_by":"system"},{"id":"gpt-4o"},{"id":"text-embedding-3-small"},{"id":"whisper-1"},{"id":"o3"}]}`},
			[]protocol.ModelInfo{{ID: "gpt-5", Tools: true, Images: true, Thinking: true}, {ID: "gpt-4o", Tools: true, Images: true}, {ID: "o3", Tools: true, Images: true, Thinking: true}},
		},
		"OpenRouter": {
			hostOpenRouter,
			map[string]string{"/v1/models": `{"data":[{"id":"a/b","name":"B","context_length":200000,"architecture":{"input_modalities":["text","image"],"output_modalities":["text"]},
			"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003","request":"0"},"top_provider":{"max_completion_tokens":64000},"supported_parameters":["tools","reasoning"]},
			{"id":"openrouter/auto","pricing":{"prompt":"-1","completion":"-1"},"supported_parameters":[]},
			{"id":"a/pictures","architecture":{"output_modalities":["image"]}}]}`},
			[]protocol.ModelInfo{{ID: "a/b", Name: "B", ContextWindow: 200000, MaxOutput: 64000, Tools: true, Images: true, Thinking: true, PriceIn: new(3.0), PriceOut: new(15.0), PriceRead: new(0.3)}, {ID: "openrouter/auto", Images: true}},
		},
		"vLLM":      {"vllm.example", map[string]string{"/v1/models": `{"data":[{"id":"qwen","owned_by":"vllm","max_model_len":40960}]}`}, []protocol.ModelInfo{{ID: "qwen", ContextWindow: 40960, Tools: true, Images: true}}},
		"Together":  {"together.example", map[string]string{"/v1/models": `[{"id":"x","type":"chat","context_length":8192,"pricing":{"input":0.2,"output":0.6}},{"id":"y","type":"image"}]`}, []protocol.ModelInfo{{ID: "x", ContextWindow: 8192, Tools: true, Images: true, PriceIn: new(0.2), PriceOut: new(0.6)}}},
		"Mistral":   {hostMistral, map[string]string{"/v1/models": `{"data":[{"id":"m","max_context_length":131072,"capabilities":{"completion_chat":true,"function_calling":false,"vision":true}}]}`}, []protocol.ModelInfo{{ID: "m", ContextWindow: 131072, Images: true}}},
		"odd types": {"odd.example", map[string]string{"/v1/models": `{"data":[{"id":"m","context_length":"8k"},{"name":"no id"}]}`}, []protocol.ModelInfo{{ID: "m", Tools: true, Images: true}}},
		"LM Studio": {
			"studio.example",
			map[string]string{
				"/v1/models": `{"data":[{"id":"q","owned_by":"organization_owner"}]}`,
				"/api/v1/models": `{"models":[{"type":"llm","key":"p","display_name":"P","loaded_instances":[],"max_context_length":131072,"capabilities":{"vision":true,"trained_for_tool_use":false}},
				{"type":"llm","key":"q","display_name":"Q","loaded_instances":[{"id":"q","config":{"context_length":4096}}],"max_context_length":262144,"capabilities":{"vision":false,"trained_for_tool_use":true}},{"type":"embedding","key":"e"}]}`,
			},
			[]protocol.ModelInfo{{ID: "q", Name: "Q", ContextWindow: 4096, Tools: true}, {ID: "p", Name: "P", ContextWindow: 131072, Images: true}},
		},
		"older LM Studio": {
			"studio.example",
			map[string]string{
				"/v1/models":     `{"data":[{"id":"q","owned_by":"organization-owner"}]}`,
				"/api/v0/models": `{"data":[{"id":"e","type":"embeddings"},{"id":"p","type":"vlm","state":"not-loaded","max_context_length":32768},{"id":"q","type":"llm","state":"loaded","max_context_length":32768,"loaded_context_length":8192,"capabilities":["tool_use"]}]}`,
			},
			[]protocol.ModelInfo{{ID: "q", ContextWindow: 8192, Tools: true}, {ID: "p", ContextWindow: 32768, Images: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := paths(t, tc.bodies)
			o := llm.Options{BaseURL: "https://" + tc.host + "/v1", HTTP: &http.Client{Transport: send{strings.TrimPrefix(s.URL, "http://")}}}
			got, err := Models(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got { // prices of one token are not exact in binary
				for _, p := range []*float64{got[i].PriceIn, got[i].PriceOut, got[i].PriceRead} {
					if p != nil {
						*p = float64(int64(*p*1e6+0.5)) / 1e6
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelsSaysThatTheKeyIsWrong(t *testing.T) {
	s := newServe(t, status(401, `{"error":{"message":"no"}}`))
	if _, err := Models(t.Context(), llm.Options{BaseURL: s.URL}); !errors.Is(err, protocol.ErrModelAuth) {
		t.Fatalf("got %v; want the error protocol.ErrModelAuth", err)
	}
	s = newServe(t, status(200, `<html>`))
	if _, err := Models(t.Context(), llm.Options{BaseURL: s.URL}); !errors.Is(err, protocol.ErrModel) {
		t.Fatalf("got %v; want the error protocol.ErrModel", err)
	}
}
