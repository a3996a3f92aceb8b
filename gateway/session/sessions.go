// Package session manages conversations. One goroutine per session owns its queue and its run;
// callers send functions to it and wait. A run is a child goroutine that reports its end to the
// session's goroutine. So cancelling a queued or starting run and sending a message during a run
// are handled in order of arrival.
//
// Each part has its own fields and its own tables, and uses only those before it:
//
//   - [Chats] lists, creates and copies chats, and has their settings and keys.
//   - [History] reads the messages and archives of chats, and archives messages.
//   - [Runs] queues, starts, stops and pauses runs. session.go orders the runs of one session,
//     run.go executes one and progress.go shows it to people.
//   - [Editor] changes the messages of a chat while none of its runs is in progress.
//   - [Trash] deletes chats, and removes permanently what can no longer be restored.
//   - [Messages] accepts what people and other programs write to a chat.
//
// A message is stored before chat.send acknowledges it. While a run is active, further messages
// wait in a queue, each as a run of its own with its own terminal event; GSV injects them into the
// running turn and never answers them. While an approval is pending, a message that is exactly yes
// or no answers it, as clients of GSV expect. Any other message waits in the queue, while GSV drops
// it.
//
// A message that begins with "!" is the person's own command. It runs at once, in parallel to other
// runs.
package session

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/llm"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Models opens models.
type Models interface {
	Open(ctx context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error)
}

// Budget limits what models may cost.
type Budget interface {
	// Check fails when the budget for a model is used up.
	Check(ctx context.Context, info protocol.ModelInfo) error
}

// Stores are the tables that chats use.
type Stores struct {
	Sessions *store.Sessions
	Messages *store.Messages
	Archives *store.Archives
	Media    *store.Media
	Runs     *store.Runs
	Search   *store.Search
	Calls    *store.Calls
	Usage    *store.Usage
}

// Options configure the sessions. All fields except Transcribe are required.
type Options struct {
	Stores    Stores
	Bus       *event.Bus
	Tools     *tool.Pipeline
	Questions *question.Queue
	Models    Models
	Budget    Budget
	Files     *workspace.Files // of all agents
	Skills    Skills
	Nodes     func() []protocol.NodeInfo
	// AwaitNode waits until a node is connected; the empty ID means any one.
	AwaitNode func(ctx context.Context, id protocol.NodeID) error
	Config    func() config.Config
	// Set changes the configuration.
	Set  func(ctx context.Context, path string, value json.RawMessage) error
	Home string // the data folder
	// Transcribe may be nil: then recordings are stored but not transcribed.
	Transcribe media.Transcribe
}

// Sessions are the parts that work together on all chats. Their methods are safe for concurrent
// use. Call Load, Resume and Close once each.
type Sessions struct {
	Chats    *Chats
	History  *History
	Prompts  *Prompts
	Runs     *Runs
	Editor   *Editor
	Trash    *Trash
	Messages *Messages

	workers *crash.Workers // the goroutines of sessions and runs, and others that end with them
}

// New returns the sessions, without runs.
func New(o Options) *Sessions {
	db, settings := o.Stores, settings{o.Config}
	w, active := crash.NewWorkers(), &activeRuns{byID: make(map[protocol.RunID]*run)}
	stored := media.New(o.Home, db.Media, o.Transcribe)
	p := &pause{bus: o.Bus}
	p.set(o.Config().Agent.Paused)
	tasks := modelTasks{o.Models, o.Budget, db.Usage, settings}
	chats := &Chats{
		sessions: db.Sessions, messages: db.Messages, archives: db.Archives, search: db.Search,
		bus: o.Bus, settings: settings, nodes: o.Nodes, active: active, pause: p,
	}
	chats.mainName.Store(o.Config().Session.MainName())
	history := &History{
		chats: chats, sessions: db.Sessions, messages: db.Messages, archives: db.Archives, search: db.Search, tasks: tasks, pause: p,
		files:    &archiveFiles{home: o.Home, archives: db.Archives},
		memories: &memories{settings: settings, sessions: db.Sessions, archives: db.Archives, files: o.Files, tasks: tasks, workers: w},
	}
	prompts := &Prompts{chats: chats, files: o.Files, skills: o.Skills, nodes: o.Nodes, tools: o.Tools}
	runs := &Runs{byKey: make(map[protocol.SessionKey]*session), set: o.Set, awaitNode: o.AwaitNode, x: &executor{
		chats: chats, history: history, prompts: prompts, pause: p, workers: w, active: active, media: stored,
		sessions: db.Sessions, messages: db.Messages, archives: db.Archives, runs: db.Runs, calls: db.Calls,
		tools: o.Tools, questions: o.Questions, tasks: tasks,
		titles: &titles{chats: chats, sessions: db.Sessions, tasks: tasks, workers: w, pause: p},
	}}
	editor := &Editor{chats: chats, history: history, runs: runs, sessions: db.Sessions, messages: db.Messages, archives: db.Archives, pause: p}
	return &Sessions{
		Chats: chats, History: history, Prompts: prompts, Runs: runs, Editor: editor, workers: w,
		Trash:    &Trash{chats: chats, runs: runs, sessions: db.Sessions, archives: db.Archives, files: history.files, media: stored, pause: p, workers: w},
		Messages: &Messages{chats: chats, history: history, runs: runs, editor: editor, messages: db.Messages, media: stored, questions: o.Questions, pause: p, workers: w},
	}
}

// Load registers the runs that an earlier start left, before any client is served: new messages of
// their sessions queue behind them.
func (s *Sessions) Load(ctx context.Context) error { return s.Runs.load(ctx) }

// Resume lets runs start, beginning with those that Load has registered: started runs continue, and
// pending approvals are asked again. If there are such runs, it first waits a moment for a node. It
// also starts the permanent removal of deleted chats and messages.
func (s *Sessions) Resume(ctx context.Context) {
	s.Runs.resume(ctx)
	s.workers.Start(func() { s.History.files.writeMissing(s.workers.Context()) })
	s.workers.Start(s.Trash.purge)
}

// Close stops all runs, so that the next start can resume them, and waits for them.
func (s *Sessions) Close() { s.workers.Close(tool.ErrSuspended) }

// ConfigChanged applies a changed setting that is not read each time.
func (s *Sessions) ConfigChanged(path string) {
	switch path {
	case "agent", "agent.paused":
		s.Runs.setPaused(s.Chats.settings.config().Agent.Paused)
	case "session", "session.mainKey":
		if err := s.Chats.mainKeyChanged(s.workers.Context()); err != nil {
			slog.Error("The notice in the former main chat could not be posted", "err", err)
		}
	}
}

func now() int64 { return time.Now().UnixMilli() }
