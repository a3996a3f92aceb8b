package settings

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

// aModel is a model that neither Ollama nor a file has.
var aModel = protocol.LocalModel{
	ID: "qwen", Title: "Qwen", Use: "Everyday tasks.", Memory: 6e9, Fits: true,
	Ollama: "qwen:4b", OllamaBytes: 25e8, File: "qwen.gguf", FileBytes: 24e8,
}

func programs(isOllamaRunning bool, llamaPath string) []protocol.LocalProgram {
	return []protocol.LocalProgram{
		{Provider: "ollama", Running: isOllamaRunning, BaseURL: "http://127.0.0.1:11434"},
		{Provider: "lmstudio"},
		{Provider: "llamacpp", Path: llamaPath},
	}
}

func pullOf(provider, state string, done, total int64) protocol.ModelPull {
	return protocol.ModelPull{Provider: provider, Model: "qwen", State: state, Done: done, Total: total}
}

func TestLocalModelHasButtonForItsState(t *testing.T) {
	const bin = "/usr/bin/llama-server"
	has := func(inOllama, hasFile bool) protocol.LocalModel {
		m := aModel
		m.InOllama, m.HasFile = inOllama, hasFile
		return m
	}
	large := aModel
	large.Fits = false
	failed := pullOf("llamacpp", protocol.PullFailed, 1e9, 2e9)
	failed.Error = "the mirror does not answer"
	server := func(state string) *protocol.LocalServer {
		return &protocol.LocalServer{Model: "qwen", State: state, Error: map[bool]string{true: "out of memory"}[state == protocol.ServerFailed]}
	}
	inFile, inOllama := protocol.ModelRef{Provider: "llamacpp", ID: "qwen"}, protocol.ModelRef{Provider: "ollama", ID: "qwen:4b"}
	var none protocol.ModelPull
	for _, c := range []struct {
		name   string
		model  protocol.LocalModel
		ollama bool
		path   string
		pull   protocol.ModelPull
		server *protocol.LocalServer
		used   protocol.ModelRef
		want   string // provider, action, state
	}{
		{"new, with Ollama", aModel, true, bin, none, nil, protocol.ModelRef{}, "ollama Download "},
		{"new, without Ollama", aModel, false, "", none, nil, protocol.ModelRef{}, "llamacpp Download "},
		{"too large", large, false, "", none, nil, protocol.ModelRef{}, "llamacpp Download Too large for this computer."},
		{"download starts", aModel, true, "", pullOf("ollama", protocol.PullRunning, 0, 0), nil, protocol.ModelRef{}, "ollama Stop The download is starting…"},
		{"download runs", aModel, true, "", pullOf("llamacpp", protocol.PullRunning, 12e8, 24e8), nil, protocol.ModelRef{}, "llamacpp Stop Downloading: 1.2 GB of 2.4 GB (50%)"},
		{"download of unknown size", aModel, true, "", pullOf("ollama", protocol.PullRunning, 12e8, 0), nil, protocol.ModelRef{}, "ollama Stop Downloading: 1.2 GB"},
		{"stopped", aModel, true, "", pullOf("llamacpp", protocol.PullStopped, 6e8, 24e8), nil, protocol.ModelRef{}, "llamacpp Resume Stopped at 600 MB of 2.4 GB (25%)."},
		{"stopped and discarded", aModel, true, "", pullOf("llamacpp", protocol.PullStopped, 0, 24e8), nil, protocol.ModelRef{}, "ollama Download "},
		{"failed", aModel, true, "", failed, nil, protocol.ModelRef{}, "llamacpp Resume The download failed: the mirror does not answer"},
		{"just done", aModel, true, "", pullOf("ollama", protocol.PullDone, 2, 2), nil, protocol.ModelRef{}, "ollama Use Downloaded."},
		{"in Ollama", has(true, false), true, "", none, nil, protocol.ModelRef{}, "ollama Use Downloaded."},
		{"Ollama in use", has(true, true), true, bin, none, nil, inOllama, "ollama  In use."},
		{"file", has(false, true), false, bin, none, nil, protocol.ModelRef{}, "llamacpp Use Downloaded."},
		{"file without llama.cpp", has(false, true), false, "", none, nil, protocol.ModelRef{}, "llamacpp  Downloaded. Install llama.cpp to use it."},
		{"file loads", has(false, true), false, bin, none, server(protocol.ServerStarting), inFile, "llamacpp  llama-server is loading qwen."},
		{"file in use", has(true, true), true, bin, none, server(protocol.ServerReady), inFile, "llamacpp  In use."},
		{"file fails", has(false, true), false, bin, none, server(protocol.ServerFailed), inFile, "llamacpp Try again llama-server does not run qwen: out of memory"},
		{"file without server", has(false, true), false, bin, none, nil, inFile, "llamacpp Use Downloaded. llama-server does not run it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := localView{LocalModelsResult: protocol.LocalModelsResult{
				Programs: programs(c.ollama, c.path), Models: []protocol.LocalModel{c.model},
				Pulls: []protocol.ModelPull{pullOf("ollama", protocol.PullRunning, 1, 2)}, Server: c.server,
			}}
			if c.pull == none {
				v.Pulls = nil
			}
			r := v.rows(feed.PullList{c.pull}, c.used)[0]
			if got := r.Provider + " " + r.Action + " " + r.State; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// serveLocal answers what the section loads.
func serveLocal(r *protocol.LocalModelsResult) func(*feedtest.Gateway) {
	return func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.ModelsLocal, func(protocol.Empty) (protocol.LocalModelsResult, error) { return *r, nil })
	}
}

func TestActionsOfLocalModelsCallGateway(t *testing.T) {
	r := protocol.LocalModelsResult{}
	pull := `{"provider":"llamacpp","model":"qwen"}`
	for _, c := range []struct{ provider, action, method, want string }{
		{"llamacpp", actDownload, "models.pull", pull},
		{"llamacpp", actResume, "models.pull", pull},
		{"llamacpp", actStop, "models.pullStop", pull},
		{"llamacpp", actDiscard, "models.pullStop", `{"provider":"llamacpp","model":"qwen","discard":true}`},
		{"ollama", actUse, "config.set", `{"path":"model","value":{"provider":"ollama","id":"qwen:4b"}}`},
		{"llamacpp", actUse, "config.set", `{"path":"localModels.serve","value":"qwen"} {"path":"model","value":{"provider":"llamacpp","id":"qwen"}}`},
		{"llamacpp", actRetry, "config.set", `{"path":"localModels.serve","value":"qwen"} {"path":"model","value":{"provider":"llamacpp","id":"qwen"}}`},
	} {
		t.Run(c.action+" "+c.provider, func(t *testing.T) {
			feedtest.Run(t, feed.New, serveLocal(&r), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
				used, err := newLocalModels(a).act(t.Context(), localRow{LocalModel: aModel, Provider: c.provider, Action: c.action})
				if err != nil {
					t.Fatal(err)
				}
				var calls []string
				for _, p := range f.Called(c.method) {
					calls = append(calls, string(p))
				}
				if got := strings.Join(calls, " "); got != c.want {
					t.Errorf("%s: got %s, want %s", c.method, got, c.want)
				}
				if isUse := c.method == "config.set"; isUse != (used.Provider == c.provider) {
					t.Errorf("the new default model: got %+v, want isUse %v", used, used.Provider == c.provider)
				}
			})
		})
	}
}

func TestLocalModelsFollowDownloadsAndServer(t *testing.T) {
	r := protocol.LocalModelsResult{Programs: programs(false, ""), Models: []protocol.LocalModel{aModel}}
	feedtest.Run(t, feed.New, serveLocal(&r), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		m := newLocalModels(a)
		a.Tasks.Start(m.Follow)
		synctest.Wait()
		check := func(when string, loads int, want string) {
			t.Helper()
			row := m.Value.Get().rows(a.Pulls.Get(), protocol.ModelRef{})[0]
			if got := row.Action + " " + row.State; got != want {
				t.Errorf("%s: got %q, want %q", when, got, want)
			}
			if got := len(f.Called("models.local")); got != loads {
				t.Errorf("%s: loaded %d times, want %d", when, got, loads)
			}
		}
		change := func(p protocol.ModelPull) { f.Change(protocol.Change{Kind: protocol.ChangePull, Pull: &p}) }
		check("at first", 1, "Download ")
		change(pullOf("llamacpp", protocol.PullRunning, 12e8, 24e8))
		check("half", 1, "Stop Downloading: 1.2 GB of 2.4 GB (50%)")
		r.Programs, r.Models[0].HasFile = programs(false, "/usr/bin/llama-server"), true
		change(pullOf("llamacpp", protocol.PullDone, 24e8, 24e8))
		check("done", 2, "Use Downloaded.")
		r.Server = &protocol.LocalServer{Model: "qwen", State: protocol.ServerStarting}
		f.Change(protocol.Change{Kind: protocol.ChangeLocalModels})
		check("loading", 3, "Use llama-server is loading qwen.")
		r.Server, r.Models[0].HasFile = nil, false
		m.Load(t.Context())
		check("deleted", 4, "Download ")
		feedtest.On(f, protocol.ModelsLocal, func(protocol.Empty) (protocol.LocalModelsResult, error) {
			return r, protocol.ErrInternal.With("the disk is full")
		})
		m.Load(t.Context())
		if v := m.Value.Get(); v.Problem != "The disk is full" || len(v.Models) != 1 {
			t.Errorf("a failure leaves %+v", v)
		}
	})
}

// everyState is a computer with a model in each state.
func everyState() (localView, feed.View) {
	v := localView{Loaded: true, LocalModelsResult: protocol.LocalModelsResult{System: "linux", Memory: 16e9, Programs: programs(true, "/usr/bin/llama-server")}}
	v.Servers = []protocol.DetectedServer{{Provider: "ollama", Name: "Ollama", BaseURL: "http://127.0.0.1:11434", State: "ready", Models: make([]protocol.ModelInfo, 2)}}
	v.Server = &protocol.LocalServer{Model: "loading", State: protocol.ServerStarting}
	for _, id := range []string{"new", "large", "running", "stopped", "failed", "ollama", "used", "loading"} {
		m := aModel
		m.ID, m.Title, m.Ollama = id, "Qwen "+id, id
		m.Fits, m.InOllama, m.HasFile = id != "large", id == "ollama" || id == "used", id == "loading"
		v.Models = append(v.Models, m)
	}
	f := feed.View{Pulls: feed.PullList{
		{Provider: "ollama", Model: "running", State: protocol.PullRunning, Done: 12e8, Total: 24e8},
		{Provider: "llamacpp", Model: "stopped", State: protocol.PullStopped, Done: 6e8, Total: 24e8},
		{Provider: "llamacpp", Model: "failed", State: protocol.PullFailed, Done: 6e8, Total: 24e8, Error: "the mirror does not answer"},
	}}
	f.Status.Model = protocol.ModelRef{Provider: "ollama", ID: "used"}
	return v, f
}

func TestLocalModelsMatchGolden(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		s := newModels(p.view).local
		pagetest.Settle()
		s.show(everyState())
		s.box.Resize(fyne.NewSize(640, 1400))
		golden.Markup(t, "models-local", s.box)
		pagetest.Shot(t, pagetest.Window(t, s.box, 640, 1000), "models-local")
		pagetest.Shot(t, pagetest.Window(t, s.box, 320, 1000), "models-local-narrow")
	})
}

func TestSpeedOfADownloadIsThatOfTheLastSeconds(t *testing.T) {
	var p pace
	for _, c := range []struct {
		after      time.Duration
		done, want int64
	}{{0, 5e6, 0}, {time.Second, 20e6, 0}, {2 * time.Second, 29e6, 12e6}, {3 * time.Second, 29e6, 12e6}, {4 * time.Second, 29e6, 0}, {5 * time.Second, 1e6, 0}} {
		if got := p.add(c.done, pagetest.Noon.Add(c.after)); got != c.want {
			t.Errorf("after %s with %d bytes: got %d bytes a second, want %d", c.after, c.done, got, c.want)
		}
	}
}

func TestDownloadKeepsItsButton(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		s := newModels(p.view).local
		pagetest.Settle()
		v, f := everyState()
		s.show(v, f)
		card := s.rows["running"]
		if stopped := s.rows["stopped"]; stopped.progress.Fraction() != 0.25 || !stopped.discard.Visible() {
			t.Errorf("a stopped download: the bar is at %v, Discard visible %v; want 0.25, true", stopped.progress.Fraction(), stopped.discard.Visible())
		}
		if s.rows["new"].progress.Box.Visible() {
			t.Error("a model without a download has a bar")
		}
		f.Pulls = feed.PullList{{Provider: "ollama", Model: "running", State: protocol.PullRunning, Done: 24e8, Total: 24e8}}
		s.showModels(f)
		if s.rows["running"] != card || !strings.Contains(card.state.Text(), "100%") {
			t.Errorf("another card, or %q", card.state.Text())
		}
		if got := card.progress.Fraction(); got != 1 || !card.progress.Box.Visible() || card.discard.Visible() {
			t.Errorf("a whole download: the bar is at %v, visible %v, Discard visible %v; want 1, true, false", got, card.progress.Box.Visible(), card.discard.Visible())
		}
		test.Tap(card.button) // without a gateway
		pagetest.Settle()
		if card.result.Text() == "" || card.button.Disabled() {
			t.Errorf("the failure of Stop: got %q; want some result.Text and not button.Disabled", card.result.Text())
		}
	})
}

func TestSearchAgainFindsInstalledProgram(t *testing.T) {
	r := protocol.LocalModelsResult{System: "linux", Programs: programs(false, "")}
	feedtest.Run(t, feed.New, serveLocal(&r), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		m := newLocalModels(a)
		m.Load(t.Context())
		if v := m.Value.Get(); fmt.Sprint(v.others()) != fmt.Sprint(r.Programs) {
			t.Errorf("programs: got %v, want v.others %v", v.others(), fmt.Sprint(r.Programs))
		}
		r.Programs = programs(true, "")
		feedtest.On(f, protocol.ModelsDetect, func(protocol.Empty) (protocol.ModelsDetectResult, error) {
			return protocol.ModelsDetectResult{Servers: []protocol.DetectedServer{{Provider: "ollama"}}}, nil
		})
		m.Load(t.Context())
		if v := m.Value.Get(); len(v.Servers) != 1 || len(v.others()) != 2 {
			t.Errorf("after the search: got %v and %v; want Servers of length 1 and others of length 2", v.Servers, v.others())
		}
	})
}
