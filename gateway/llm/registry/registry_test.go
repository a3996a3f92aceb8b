package registry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fairlead/gateway/protocol"
)

type settings struct{ keys, urls, wires map[string]string }

func (s settings) Provider(p string) (key, baseURL, wire string) {
	return s.keys[p], s.urls[p], s.wires[p]
}

// server speaks Anthropic's wire and OpenAI's, as far as a test of a provider needs it.
func server(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	var lists atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == "wrong" || r.Header.Get("Authorization") == "Bearer wrong" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid key"}}`)
			return
		}
		switch r.URL.Path {
		case "/v1/models":
			lists.Add(1)
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"object":"list","data":[{"id":"claude-opus-4-6","type":"model","display_name":"Opus","max_input_tokens":1000000,"max_tokens":128000},{"id":"mine","type":"model"}]}`)
		case "/v1/messages":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"+
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"ready\"}}\n\n"+
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n")
		case "/v1/chat/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ready\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, &lists
}

func TestServerIsAddressedInTheChosenProtocol(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked = append(asked, r.URL.Path)
		}
		http.Error(w, `{"error":{"message":"not today"}}`, http.StatusBadRequest)
	}))
	defer srv.Close()
	for wire, want := range map[string]string{"": "/v1/chat/completions", "chat": "/v1/chat/completions", "responses": "/v1/responses"} {
		for _, id := range []string{"compatible", "openai", "lmstudio"} {
			asked = nil
			r := New(settings{keys: map[string]string{"openai": "k"}, urls: map[string]string{id: srv.URL}, wires: map[string]string{id: wire}}, nil)
			if res := r.Test(t.Context(), id, "m"); res.OK || !slices.Equal(asked, []string{want}) {
				t.Errorf("%s with %q: got %+v, asked %q; want a failure after %q", id, wire, res, asked, want)
			}
		}
	}
}

func TestNoErrorRepeatsTheKey(t *testing.T) {
	const secret = "sk-very-secret"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"Incorrect key provided: `+secret+`"}}`)
	}))
	defer srv.Close()
	for _, id := range []string{"anthropic", "openai", "google", "compatible"} {
		t.Run(id, func(t *testing.T) {
			r := New(settings{keys: map[string]string{id: secret}, urls: map[string]string{id: srv.URL}}, nil)
			for _, model := range []string{"", "m"} {
				if res := r.Test(t.Context(), id, model); res.OK || strings.Contains(res.Message, secret) || !strings.Contains(res.Message, "Incorrect key provided: ***") {
					t.Errorf(`%s %s: got %+v; want not OK, no %v in Message and "Incorrect key provided: ***" in Message`, id, model, res, secret)
				}
			}
		})
	}
}

func TestNoRequestGoesToAServerThatThePersonDidNotName(t *testing.T) {
	var strayed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer other.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+r.URL.Path, status) }))
		for _, id := range []string{"anthropic", "google", "compatible", "ollama"} {
			t.Run(id, func(t *testing.T) {
				r := New(settings{keys: map[string]string{id: "k"}, urls: map[string]string{id: srv.URL}}, nil)
				for _, model := range []string{"", "m"} {
					if res := r.Test(t.Context(), id, model); res.OK || !strings.Contains(res.Message, "redirects requests to "+other.URL) || strayed.Load() > 0 {
						t.Errorf("%d, %s %q: got %+v, %d requests went elsewhere; want a failure that names the redirect, and none", status, id, model, res, strayed.Load())
					}
				}
			})
		}
		srv.Close()
	}
}

func TestARequestGoesOnWithinItsServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, old := strings.CutPrefix(r.URL.Path, "/old"); old {
			http.Redirect(w, r, path, http.StatusPermanentRedirect)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ready\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	r := New(settings{urls: map[string]string{"compatible": srv.URL + "/old/v1"}}, nil)
	if res := r.Test(t.Context(), "compatible", "m"); !res.OK {
		t.Errorf("got %v, want res.OK", res)
	}
}

func TestWebPageInPlaceOfAModelIsReportedAtOnce(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>Log in</title>")
	}))
	defer srv.Close()
	for _, id := range []string{"anthropic", "google", "compatible", "ollama"} {
		t.Run(id, func(t *testing.T) {
			r := New(settings{keys: map[string]string{id: "k"}, urls: map[string]string{id: srv.URL}}, nil)
			asked.Store(0)
			if res := r.Test(t.Context(), id, ""); res.OK || !strings.Contains(res.Message, "web page") || asked.Load() != 1 {
				t.Errorf("%s: got %+v, asked %d times; want a failure that names a web page, and 1", id, res, asked.Load())
			}
			asked.Store(0)
			if res := r.Test(t.Context(), id, "m"); res.OK || !strings.Contains(res.Message, "web page") || asked.Load() > 2 { // what it can, and the question
				t.Errorf("%s m: got %+v, asked %d times; want a failure that names a web page, and at most 2", id, res, asked.Load())
			}
		})
	}
}

func TestProvidersSayWhatIsSet(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "x")
	t.Setenv("OPENAI_API_KEY", "")
	r := New(settings{keys: map[string]string{"anthropic": "k"}, urls: map[string]string{"compatible": "http://box:8000/v1"}}, nil)
	by := map[string]protocol.Provider{}
	for _, p := range r.Providers() {
		by[p.ID] = p
	}
	for _, id := range []string{"operator", "anthropic", "openai", "google", "openrouter", "ollama", "lmstudio", "llamacpp", "compatible"} {
		t.Run(id, func(t *testing.T) {
			if by[id].Name == "" {
				t.Errorf("no provider %s", id)
			}
			if p := by[id]; p.NeedsKey && (p.KeyURL == "" || p.BaseURL == "") {
				t.Errorf("%+v does not say where to get a key", p)
			}
		})
	}
	if !by["anthropic"].KeySet || by["openai"].KeySet || by["openai"].EnvKey != "" || by["google"].EnvKey != "GOOGLE_API_KEY" || by["google"].KeySet || by["compatible"].BaseURL != "http://box:8000/v1" {
		t.Errorf("got %+v; want a key only for Anthropic, the variable of Google and the address of the compatible server", by)
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "in the environment only")
	r := New(settings{}, nil)
	for ref, want := range map[protocol.ModelRef]error{
		{Provider: "anthropic", ID: "claude-opus-4-6"}: protocol.ErrModelAuth,
		{Provider: "anthropic"}:                        protocol.ErrBadRequest,
		{Provider: "anthropic", ID: "built-in"}:        protocol.ErrBadRequest,
		{Provider: "compatible", ID: "m"}:              protocol.ErrBadRequest,
		{Provider: "nobody", ID: "m"}:                  protocol.ErrNotFound,
	} {
		if _, _, err := r.Open(t.Context(), ref); !errors.Is(err, want) {
			t.Errorf("%s: got %v; want error %v", ref, err, want)
		}
	}
	m, info, err := r.Open(t.Context(), protocol.ModelRef{Provider: "operator", ID: "built-in"})
	if err != nil || m == nil || !info.Tools {
		t.Errorf("got %v, %v, %v; want no error, a m and Tools", m, info, err)
	}
}

func TestModelListsHaveAnOrderOfPrecedence(t *testing.T) {
	url, lists := server(t)
	file := filepath.Join(t.TempDir(), "models.json")
	if err := os.WriteFile(file, []byte(`[{"id":"mine","name":"My model","contextWindow":4096,"priceIn":0,"priceOut":0},{"id":"claude-opus-4-6","maxOutput":5000},{"name":"no id"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := New(settings{keys: map[string]string{"anthropic": "k"}, urls: map[string]string{"anthropic": url}}, nil, file, filepath.Join(t.TempDir(), "absent.json"))
	_, info, err := r.Open(t.Context(), protocol.ModelRef{Provider: "anthropic", ID: "claude-opus-4-6"})
	if err != nil || info.ContextWindow != 1e6 || info.MaxOutput != 5000 || info.Name != "Opus" || info.PriceIn == nil || *info.PriceIn != 5 || *info.PriceRead != 0.5 {
		t.Errorf(`got %+v %v; want no error, ContextWindow 1e6, MaxOutput 5000, Name "Opus", PriceIn 5 and PriceRead 0.5`, info, err)
	}
	_, info, err = r.Open(t.Context(), protocol.ModelRef{Provider: "anthropic", ID: "mine"})
	if err != nil || info.Name != "My model" || info.ContextWindow != 4096 || !info.Tools || *info.PriceOut != 0 {
		t.Errorf(`got %+v %v; want no error, Name "My model", ContextWindow 4096, Tools and PriceOut 0`, info, err)
	}
	if n := lists.Load(); n != 1 {
		t.Errorf("the list was asked for %d times, want 1", n)
	}
	list, err := r.Models(t.Context(), "anthropic")
	if err != nil || len(list) != 2 || list[0].MaxOutput != 5000 || lists.Load() != 2 {
		t.Errorf("got %+v %v; want no error, length 2, list[0].MaxOutput 5000 and lists.Load 2", list, err)
	}
}

func TestOpenWorksWhenTheListCannotBeHad(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	url := srv.URL
	srv.Close()
	r := New(settings{keys: map[string]string{"anthropic": "k"}, urls: map[string]string{"anthropic": url, "llamacpp": url}}, nil)
	_, info, err := r.Open(t.Context(), protocol.ModelRef{Provider: "anthropic", ID: "claude-haiku-4-5"})
	if err != nil || info.ContextWindow != 200_000 || info.PriceIn == nil {
		t.Errorf("got %+v %v; want no error, ContextWindow 200_000 and a PriceIn", info, err)
	}
	_, info, err = r.Open(t.Context(), protocol.ModelRef{Provider: "llamacpp", ID: "x"})
	if err != nil || info.ID != "x" || !info.Tools || info.PriceIn == nil || *info.PriceIn != 0 {
		t.Errorf(`got %+v %v; want no error, ID "x", Tools and PriceIn 0`, info, err)
	}
}

func TestTestSaysHowItWentAndWhatToDo(t *testing.T) {
	url, _ := server(t)
	good := New(settings{keys: map[string]string{"anthropic": "k"}, urls: map[string]string{"anthropic": url, "compatible": url}}, nil)
	bad := New(settings{keys: map[string]string{"anthropic": "wrong"}, urls: map[string]string{"anthropic": url, "compatible": "http://127.0.0.1:1"}}, nil)
	for _, tc := range []struct {
		r               *Registry
		provider, model string
		ok              bool
		want            string
	}{
		{good, "anthropic", "", true, "2 models"},
		{good, "anthropic", "mine", true, "mine answered in "},
		{good, "compatible", "mine", true, "mine answered in "},
		{good, "operator", "built-in", true, "built-in answered in "},
		{good, "openai", "gpt-5", false, "needs a key. Paste one in Settings"},
		{bad, "anthropic", "", false, "invalid key. Check the key in Settings."},
		{bad, "anthropic", "mine", false, "Check the key in Settings."},
		{bad, "compatible", "mine", false, "Is the model server running?"},
		{good, "nobody", "", false, "There is no provider"},
	} {
		res := tc.r.Test(t.Context(), tc.provider, tc.model)
		if res.OK != tc.ok || !strings.Contains(res.Message, tc.want) || strings.Contains(res.Message, "wrong") {
			t.Errorf(`got %s/%s: %+v; want res.OK %v, %v in res.Message and no "wrong" in res.Message`, tc.provider, tc.model, res, tc.ok, tc.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res := good.Test(ctx, "anthropic", "mine"); res.OK {
		t.Errorf("got %v, want not OK", res)
	}
}

func TestCatalogueIsWellFormed(t *testing.T) {
	if n := len(builtIn()); n < 35 {
		t.Errorf("got %d models, want at least 35", n)
	}
	for id, m := range builtIn() {
		if m.Name == "" || m.MaxOutput == 0 || !m.Tools {
			t.Errorf("%s: got %+v; want some Name, MaxOutput other than 0 and Tools", id, m)
		}
		if m.PriceIn == nil || m.PriceOut == nil || *m.PriceOut < *m.PriceIn {
			t.Errorf("%s: prices, want PriceOut at least %v", id, *m.PriceIn)
		}
		// The prices of a cache are easily swapped: reading is cheaper than input, writing dearer.
		if m.PriceRead != nil && *m.PriceRead >= *m.PriceIn || m.PriceWrite != nil && *m.PriceWrite <= *m.PriceIn {
			t.Errorf("%s: the cache's price for reading is not below the input's, or that for writing not above", id)
		}
		if strings.HasPrefix(id, "claude") && (m.PriceRead == nil || m.PriceWrite == nil) {
			t.Errorf("%s: no prices of the cache", id)
		}
	}
	var ids []string
	for _, p := range providers {
		ids = append(ids, p.ID)
		if p.Name == p.ID || protocol.ProviderID(p.Name) != p.ID {
			t.Errorf("the provider %s has the name %q", p.ID, p.Name)
		}
	}
	if !slices.Equal(ids, protocol.ProviderIDs) {
		t.Errorf("got providers %q, want those that the configuration accepts: %q", ids, protocol.ProviderIDs)
	}
}

func TestDetectFindsNothingOnAQuietMachineWithoutFailing(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	for _, s := range New(settings{}, nil).Detect(t.Context()) {
		if s.BaseURL == "" || s.Provider == "" {
			t.Errorf("got %+v; want some BaseURL and some Provider", s)
		}
	}
}
