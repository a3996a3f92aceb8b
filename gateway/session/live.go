package session

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/agent"
	"fairlead/gateway/approval"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// live is a run that has not ended, as windows see it. It implements the agent's sink.
type live struct {
	m       *Manager
	run     store.Run
	created int64
	done    chan struct{} // for direct commands: closed when the command ends

	mu   sync.Mutex // guards the fields below
	info protocol.RunInfo
	// text and thinking hold the text of info. They are builders because an answer arrives in
	// thousands of pieces.
	text, thinking strings.Builder
	spoke          int // step of the last chat delta, or 0
	// model and modelInfo describe the model of this run. Only the run's goroutine uses them.
	model     llm.Model
	modelInfo protocol.ModelInfo
	stop      context.CancelCauseFunc // for direct commands
}

// track registers a run and makes it visible.
func (m *Manager) track(r store.Run) *live {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.live[r.ID]; l != nil {
		l.mu.Lock()
		l.run, l.info.State, l.info.StartedAt = r, r.State, r.StartedAt
		l.mu.Unlock()
		return l
	}
	l := &live{m: m, run: r, created: r.CreatedAt, done: make(chan struct{}), info: protocol.RunInfo{RunID: r.ID, SessionKey: r.Session, State: r.State, StartedAt: r.StartedAt, Message: shown(r)}}
	m.live[r.ID] = l
	return l
}

func (m *Manager) liveRun(id protocol.RunID) *live {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id]
}

func (l *live) snapshot() protocol.RunInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info
}

func (l *live) publish() {
	info := l.snapshot()
	info.Text, info.Thinking = "", "" // they are sent as deltas
	l.m.bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: info.SessionKey, Run: &info})
}

func (l *live) chat(e protocol.ChatEvent) {
	id := l.run.ID
	e.RunID, e.SessionKey = &id, l.run.Session
	l.m.bus.Publish(protocol.Change{Kind: protocol.ChangeChat, SessionKey: l.run.Session, Chat: &e})
}

// execute runs the agent and publishes how the run ended.
func (l *live) execute(ctx context.Context) {
	l.publish()
	err := l.agent(ctx)
	if errors.Is(err, approval.ErrSuspended) || errors.Is(context.Cause(ctx), approval.ErrSuspended) {
		return // the next start resumes it
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	l.finish(err)
}

// agent prepares and runs the agent loop.
func (l *live) agent(ctx context.Context) error {
	m, cfg := l.m, l.m.opts.Config()
	s, err := m.store.Sessions.Get(ctx, l.run.Session)
	if err != nil {
		return m.stored(err)
	}
	_, d := settingsOf(l.run)
	ref, thinking := m.modelOf(s, d)
	l.mu.Lock()
	l.info.Model = ref
	l.mu.Unlock()
	model, info, err := m.opts.Models.Open(ctx, ref)
	if err != nil {
		return err
	}
	limit := maxHistory
	if s.Cut > 0 {
		limit = 0 // the summary may come before the last messages, and compaction limits their number
	}
	history, err := m.store.Messages.List(ctx, l.run.Session, 0, limit)
	if err != nil {
		return m.stored(err)
	}
	l.model, l.modelInfo = model, info
	title := title(s)
	r := agent.Run{
		ID: l.run.ID, Session: l.run.Session, Model: model, Info: info, Ref: ref, Thinking: thinking, MaxOut: s.Prefs.MaxTokens, MaxSteps: cfg.Agent.MaxSteps,
		Patience: time.Duration(cfg.Timeouts.LLM) * time.Millisecond,
		Keep:     int64(cfg.Compaction.KeepRecentTokens),
		Tools:    m.opts.Tools.Tools, Caller: m.opts.Tools, Sink: l, History: view(history, s.Cut),
		AskedBy: askedBy(l.run.Principal, title, ref),
		System:  m.prompt(s, ref, l.run.Params.Node),
	}
	if cfg.Compaction.Enabled {
		r.Reserve = max(int64(cfg.Compaction.ReserveTokens), 1)
	}
	if info.ContextWindow != s.ContextWindow {
		if _, err := m.store.Sessions.Update(ctx, s.Key, func(s *store.Session) { s.ContextWindow = info.ContextWindow }); err != nil {
			return m.stored(err)
		}
	}
	if more, err := l.askAgain(ctx); err != nil || !more {
		return cmp.Or(err, error(protocol.ErrCancelled.With("Stopped. Send a message to go on.")))
	}
	return m.stored(r.Do(ctx))
}

// maxHistory is the number of stored messages that a run loads in a chat without compaction; few
// models can read more.
const maxHistory = 4000

// Append implements agent.Sink.
func (l *live) Append(ctx context.Context, msgs ...protocol.Message) ([]protocol.Message, error) {
	k := &keeper{m: l.m}
	defer k.release()
	for i := range msgs {
		msgs[i].Content = k.images(msgs[i].Content)
	}
	stored, err := l.m.store.Messages.Append(ctx, l.run.Session, msgs...)
	if err != nil {
		return nil, l.m.stored(err)
	}
	l.mu.Lock()
	l.forgetSaid()
	l.mu.Unlock()
	for _, m := range stored {
		l.m.publishMessage(l.run.Session, m)
		if m.Role == protocol.RoleAssistant && m.Origin == protocol.OriginPerson && len(m.Content.Calls()) > 0 && m.Content.Text() != "" {
			l.chat(protocol.ChatEvent{State: protocol.ChatPartial, Message: &m})
		}
	}
	return stored, nil
}

// Ready implements agent.Sink.
func (l *live) Ready(ctx context.Context) error { return l.m.ready(ctx) }

// Step implements agent.Sink.
func (l *live) Step(step int) {
	l.mu.Lock()
	l.info.Step = step
	l.forgetSaid()
	l.mu.Unlock()
}

// forgetSaid discards the streamed text. The caller must hold the lock.
func (l *live) forgetSaid() {
	l.info.Text, l.info.Thinking = "", ""
	l.text.Reset()
	l.thinking.Reset()
}

// Delta implements agent.Sink.
func (l *live) Delta(thinking bool, text string) {
	if text == "" {
		return
	}
	between := ""
	l.mu.Lock()
	d := protocol.Delta{RunID: l.run.ID, Step: l.info.Step, Thinking: thinking, Text: text}
	if thinking {
		d.Offset = l.thinking.Len()
		l.thinking.WriteString(text)
		l.info.Thinking = l.thinking.String()
	} else {
		if l.spoke != 0 && l.spoke != d.Step {
			between = "\n\n" // chat events carry no step; clients concatenate their texts
		}
		l.spoke = d.Step
		d.Offset = l.text.Len()
		l.text.WriteString(text)
		l.info.Text = l.text.String()
	}
	l.mu.Unlock()
	l.m.bus.Publish(protocol.Change{Kind: protocol.ChangeDelta, SessionKey: l.run.Session, Delta: &d})
	if !thinking {
		l.chat(protocol.ChatEvent{State: protocol.ChatDelta, Text: between + text})
	}
}

// State implements agent.Sink.
func (l *live) State(state, notice string) {
	l.mu.Lock()
	l.info.State, l.info.Notice = state, notice
	l.mu.Unlock()
	l.publish()
}

// Used implements agent.Sink.
func (l *live) Used(u protocol.Usage) {
	l.mu.Lock()
	sum := protocol.Usage{}
	if l.info.Usage != nil {
		sum = *l.info.Usage
	}
	sum.Add(u)
	l.info.Usage = &sum
	l.mu.Unlock()
	l.publish()
	l.m.publishSession(l.run.Session)
}

// Hydrate implements agent.Sink.
func (l *live) Hydrate(_ context.Context, msgs []protocol.Message) []protocol.Message {
	msgs = l.m.loadImages(msgs)
	if l.snapshot().Model.Provider == builtIn {
		return msgs // the built-in operator uses only the text
	}
	return timed(msgs, l.m.zone())
}
