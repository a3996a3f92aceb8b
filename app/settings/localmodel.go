package settings

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Providers whose models the gateway downloads.
const (
	ollama   = "ollama"
	llamaCPP = "llamacpp"
)

// localView is what the gateway's computer can run.
type localView struct {
	protocol.LocalModelsResult
	Loaded  bool
	Problem string // reason why loading failed
	Servers []protocol.DetectedServer
}

// localModels is the view model of the models that the gateway's computer can run.
type localModels struct {
	feed.Loader[localView]
}

// newLocalModels returns an empty view model; Follow loads it.
func newLocalModels(f *feed.Feed) *localModels {
	m := &localModels{}
	m.Loader = feed.Loader[localView]{
		Value: feed.NewValue(localView{}), Feed: f, Fetch: m.fetch, Problem: func(v *localView) *string { return &v.Problem },
		Facts: []feed.Fact{f.Changed, f.Status},
		Key:   func(v feed.View) string { return fmt.Sprint(v.Changed.LocalModels, v.Status.Connected) },
	}
	return m
}

func (m *localModels) fetch(ctx context.Context) (func(*localView), error) {
	isDone := func(p protocol.ModelPull) bool { return p.State == protocol.PullDone }
	r, err := feed.Call(ctx, m.Feed, protocol.ModelsLocal, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	servers, err := Models{Feed: m.Feed}.Detect(ctx)
	if err != nil {
		return nil, err
	}
	// Of complete downloads the result says whether the model is still there.
	r.Pulls = lists.Without(r.Pulls, isDone)
	m.Feed.Pulls.Update(func(l *feed.PullList) { *l = lists.Without(*l, isDone) })
	return func(v *localView) { *v = localView{LocalModelsResult: r, Loaded: true, Servers: servers} }, nil
}

// act performs the action of a row and, after Use, returns the new default model. It blocks.
func (m *localModels) act(ctx context.Context, r localRow) (used protocol.ModelRef, err error) {
	p := protocol.ModelPullParams{Provider: r.Provider, Model: r.ID}
	switch r.Action {
	case actDownload, actResume:
		return used, feed.Send(ctx, m.Feed, protocol.ModelsPull, p)
	case actStop, actDiscard:
		p.Discard = r.Action == actDiscard
		return used, feed.Send(ctx, m.Feed, protocol.ModelsPullStop, p)
	}
	if r.Provider == llamaCPP {
		if err := feed.Set(ctx, m.Feed, "localModels.serve", r.ID); err != nil {
			return used, err
		}
	}
	used = r.ref(r.Provider)
	return used, Models{Feed: m.Feed}.Use(ctx, used)
}

// Actions of a [localRow], as its button names them. One in use has none.
const (
	actDownload = "Download"
	actStop     = "Stop"
	actResume   = "Resume"
	actDiscard  = "Discard" // deletes what a download has
	actUse      = "Use"
	actRetry    = "Try again" // use it again
)

// States of a [localRow] that have a colour of their own.
const (
	rowPlain = iota
	rowMuted // too large for this computer
	rowGood
	rowBad
)

// localRow is a model with its state.
type localRow struct {
	protocol.LocalModel
	Provider string // that has the model, gets it, or would get it
	State    string // a sentence, or empty
	Kind     int    // rowPlain, rowMuted, rowGood or rowBad
	Action   string // empty without a button
	// Pull is the download that is not finished; nil without one.
	Pull *protocol.ModelPull
}

// fraction returns how much of the download is there, from 0 to 1.
func (r localRow) fraction() float64 {
	if r.Pull == nil || r.Pull.Total <= 0 {
		return 0
	}
	return min(float64(r.Pull.Done)/float64(r.Pull.Total), 1)
}

// keepsPart reports whether the part of an ended download can be discarded: that of Ollama belongs to
// Ollama.
func (r localRow) keepsPart() bool { return r.Action == actResume && r.Provider == llamaCPP }

// pace measures the speed of a download.
type pace struct {
	since  time.Time // when done was there
	done   int64
	second int64 // bytes per second; 0 as long as it is unknown
}

// paceEvery is the time over which a speed is measured.
const paceEvery = 2 * time.Second

// add returns the speed of a running download in bytes per second; 0 if it is unknown.
func (p *pace) add(done int64, now time.Time) int64 {
	switch took := now.Sub(p.since); {
	case p.since.IsZero() || done < p.done:
		*p = pace{since: now, done: done}
	case took >= paceEvery:
		*p = pace{since: now, done: done, second: int64(float64(done-p.done) / took.Seconds())}
	}
	return p.second
}

// ref returns the model of a provider in requests.
func (r localRow) ref(provider string) protocol.ModelRef {
	if provider == ollama {
		return protocol.ModelRef{Provider: ollama, ID: r.Ollama}
	}
	return protocol.ModelRef{Provider: llamaCPP, ID: r.ID}
}

// size describes the size of the download and the memory that the model needs.
func (r localRow) size() string {
	bytes := r.FileBytes
	if r.Provider == ollama {
		bytes = r.OllamaBytes
	}
	return fmt.Sprintf("%s · needs %s of memory", format.Size(bytes), format.Size(r.Memory))
}

// rows returns the models with their states. pulls are newer than those of the view.
func (v localView) rows(pulls feed.PullList, used protocol.ModelRef) []localRow {
	return lists.Map(v.Models, func(m protocol.LocalModel) localRow {
		pull, ok := pulls.Find(m.ID)
		if !ok {
			pull, _ = feed.PullList(v.Pulls).Find(m.ID)
		}
		return v.row(m, pull, used)
	})
}

// row returns a model with its state. pull has no State if the model was never downloaded.
func (v localView) row(m protocol.LocalModel, pull protocol.ModelPull, used protocol.ModelRef) localRow {
	r := localRow{LocalModel: m, Provider: pull.Provider}
	isDone := pull.State == protocol.PullDone
	inOllama, hasFile := m.InOllama || isDone && pull.Provider == ollama, m.HasFile || isDone && pull.Provider == llamaCPP
	switch {
	case pull.State == protocol.PullRunning:
		r.State, r.Action, r.Pull = "Downloading: "+pullProgress(pull), actStop, &pull
		if pull.Done == 0 {
			r.State = "The download is starting…"
		}
	case hasFile && (!inOllama || used == r.ref(llamaCPP)):
		v.setFileState(&r, used)
	case inOllama:
		r.Provider = ollama
		v.setUse(&r, used)
	case pull.State == protocol.PullFailed:
		r.State, r.Kind, r.Action, r.Pull = "The download failed: "+pull.Error, rowBad, actResume, &pull
	case pull.State == protocol.PullStopped && pull.Done > 0:
		r.State, r.Action, r.Pull = "Stopped at "+pullProgress(pull)+".", actResume, &pull
	default:
		r.Provider, r.Action = v.puller(m), actDownload
		if !m.Fits {
			r.State, r.Kind = "Too large for this computer.", rowMuted
		}
	}
	return r
}

// setFileState sets the state of a model whose file is there.
func (v localView) setFileState(r *localRow, used protocol.ModelRef) {
	r.Provider = llamaCPP
	switch s := v.Server; {
	case s != nil && s.Model == r.ID && s.State == protocol.ServerFailed:
		r.State, r.Kind, r.Action = display.LocalServer(*s), rowBad, actRetry
	case s != nil && s.Model == r.ID && s.State == protocol.ServerStarting:
		r.State = display.LocalServer(*s)
		if used != r.ref(llamaCPP) {
			r.Action = actUse
		}
	case !slices.ContainsFunc(v.Programs, func(p protocol.LocalProgram) bool { return p.Provider == llamaCPP && p.Path != "" }):
		r.State = "Downloaded. Install llama.cpp to use it."
	case used == r.ref(llamaCPP) && (s == nil || s.Model != r.ID):
		r.State, r.Action = "Downloaded. llama-server does not run it.", actUse
	default:
		v.setUse(r, used)
	}
}

// setUse sets the state of a model that can be used, or is in use.
func (localView) setUse(r *localRow, used protocol.ModelRef) {
	r.Kind = rowGood
	if used == r.ref(r.Provider) {
		r.State = "In use."
		return
	}
	r.State, r.Action = "Downloaded.", actUse
}

// puller returns the provider that gets a model: Ollama if it is running and has the model.
func (v localView) puller(m protocol.LocalModel) string {
	running := slices.ContainsFunc(v.Programs, func(p protocol.LocalProgram) bool { return p.Provider == ollama && p.Running })
	if running && m.Ollama != "" {
		return ollama
	}
	return llamaCPP
}

// pullProgress is how much of a download is there: 1.2 GB of 2.5 GB (48%).
func pullProgress(p protocol.ModelPull) string {
	if p.Total <= 0 {
		return format.Size(p.Done)
	}
	return fmt.Sprintf("%s of %s (%d%%)", format.Size(p.Done), format.Size(p.Total), min(p.Done*100/p.Total, 100))
}

// others returns the programs among which no server was found: these are described with their state.
func (v localView) others() []protocol.LocalProgram {
	return lists.Without(v.Programs, func(p protocol.LocalProgram) bool {
		return slices.ContainsFunc(v.Servers, func(s protocol.DetectedServer) bool { return s.Provider == p.Provider })
	})
}

// otherServer describes a llama-server that runs a model outside the list, or is empty.
func (v localView) otherServer() string {
	if v.Server == nil || slices.ContainsFunc(v.Models, func(m protocol.LocalModel) bool { return m.ID == v.Server.Model }) {
		return ""
	}
	return display.LocalServer(*v.Server)
}
