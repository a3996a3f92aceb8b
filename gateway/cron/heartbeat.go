package cron

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// beat is one agent's heartbeat. Only the loop accesses it.
type beat struct {
	state   protocol.HeartbeatState
	running bool
}

// heartbeats runs the heartbeats of all agents. Its fields belong to the loop's goroutine.
type heartbeats struct {
	*loop
	o      *Options
	runner *runner
	beats  map[protocol.AgentID]*beat
}

// agents returns all agents with their heartbeat settings. The main agent always exists.
func (hb *heartbeats) agents() map[protocol.AgentID]config.Heartbeat {
	cfg := hb.o.Config().Agents
	all := map[protocol.AgentID]config.Heartbeat{protocol.MainAgent: cfg.DefaultHeartbeat}
	for _, a := range cfg.List {
		h := cfg.DefaultHeartbeat
		if a.Heartbeat != nil {
			h = *a.Heartbeat
		}
		all[config.AgentName(a.ID)] = h
	}
	return all
}

// tick starts the heartbeats that are due and returns the time of the next one, or 0.
func (hb *heartbeats) tick(at int64) (next int64) {
	for id, h := range hb.agents() {
		b := hb.beat(id)
		d, _ := h.Interval() // heartbeat.status reports an invalid interval
		interval := d.Milliseconds()
		due := b.state.NextHeartbeatAt
		switch {
		case interval == 0 && due != nil:
			hb.plan(b, 0)
		case interval == 0:
		case due == nil || *due > at+interval: // a new agent, a shorter interval, or a clock that was set back
			hb.plan(b, at+interval)
		case *due <= at && !b.running:
			hb.plan(b, at+interval)
			hb.start(id, b, h, nil)
		}
		if due = b.state.NextHeartbeatAt; due != nil && (next == 0 || *due < next) {
			next = *due
		}
	}
	for id, b := range hb.beats {
		if _, ok := hb.agents()[id]; !ok && b.state.NextHeartbeatAt != nil {
			hb.plan(b, 0)
		}
	}
	return next
}

func (hb *heartbeats) beat(id protocol.AgentID) *beat {
	b := hb.beats[id]
	if b == nil {
		b = &beat{state: protocol.HeartbeatState{AgentID: id}}
		hb.beats[id] = b
	}
	return b
}

// plan plans an agent's next heartbeat; 0 means never.
func (hb *heartbeats) plan(b *beat, at int64) {
	b.state.NextHeartbeatAt = nil
	if at > 0 {
		b.state.NextHeartbeatAt = &at
	}
	hb.save(b)
}

func (hb *heartbeats) save(b *beat) {
	hb.changed = true
	if err := hb.o.Store.Heartbeats.Put(context.WithoutCancel(hb.ctx), b.state); err != nil {
		slog.Error("A heartbeat could not be stored", "agent", b.state.AgentID, "err", err)
	}
}

// heartbeatResult is the outcome of a heartbeat. skip is the reason why it was skipped.
type heartbeatResult struct {
	skip string
	text string // the delivered report
	// expired describes the calls that were not made because nobody answered their approvals.
	expired string
	usage   protocol.Usage // of the model
	err     error
}

// start starts a heartbeat. done receives the outcome of one that the person requested; such a
// heartbeat is never skipped. It is nil for all others.
func (hb *heartbeats) start(id protocol.AgentID, b *beat, h config.Heartbeat, done chan<- heartbeatResult) {
	b.running = true
	last := b.state
	at := time.UnixMilli(now()).In(hb.o.zone())
	hb.wg.Go(func() {
		var end heartbeatResult
		run := protocol.RunID(protocol.NewID())
		end.err = crash.Call("heartbeat", func() (err error) {
			if done == nil {
				end.skip = hb.skipReason(hb.ctx, id, h, at)
			}
			if end.skip == "" {
				end.text, end.expired, err = hb.runAgent(hb.ctx, id, h, last, run)
			}
			return err
		}, "agent", id)
		if end.skip == "" {
			end.usage = hb.usageOf(run)
		}
		if done != nil {
			done <- end
		}
		hb.report(func() { hb.finish(b, at.UnixMilli(), end) })
	})
}

func (hb *heartbeats) finish(b *beat, began int64, end heartbeatResult) {
	b.running = false
	st := &b.state
	if end.usage.Total > 0 {
		sum := end.usage
		if st.Usage != nil {
			sum.Add(*st.Usage)
		}
		st.Runs, st.Usage = st.Runs+1, &sum
	}
	st.LastStatus, st.LastError = protocol.CronOK, ""
	switch {
	case end.skip != "":
		st.LastStatus, st.LastError = protocol.CronSkipped, end.skip
	case end.err != nil:
		st.LastHeartbeatAt = &began
		st.LastStatus, st.LastError = protocol.CronError, end.err.Error()
		slog.Warn("A heartbeat failed", "agent", st.AgentID, "err", end.err)
	default:
		st.LastHeartbeatAt = &began
		if end.expired != "" {
			st.LastStatus, st.LastError = protocol.CronError, end.expired
		}
		if end.text != "" {
			st.LastHeartbeatText, st.LastHeartbeatSentAt = end.text, now()
		}
	}
	hb.save(b)
}

// usageOf returns the tokens and the cost of a run so far.
func (hb *heartbeats) usageOf(run protocol.RunID) (sum protocol.Usage) {
	msgs, err := hb.o.Store.Messages.OfRun(context.WithoutCancel(hb.ctx), run)
	if err != nil {
		slog.Warn("The cost of a heartbeat could not be read", "run", run, "err", err)
	}
	for _, m := range msgs {
		if m.Usage != nil {
			sum.Add(*m.Usage)
		}
	}
	return sum
}

// estimate returns the estimated tokens of one heartbeat: its prompt is read in two steps, to look at
// something and to answer.
func (hb *heartbeats) estimate(id protocol.AgentID, h config.Heartbeat) int64 {
	text, _ := hb.o.HeartbeatFile(id) // without a file, only the prompt counts
	own := int64(len(text)+len(cmp.Or(h.Prompt, heartbeatPrompt))) / 4
	return 2 * (hb.o.PromptTokens(hb.ctx, protocol.HeartbeatChat(id)) + own)
}

func (hb *heartbeats) lastActive(id protocol.AgentID) *protocol.LastActive {
	if hb.o.LastActive == nil {
		return nil
	}
	return hb.o.LastActive(hb.ctx, id)
}

// HeartbeatStatus returns the state of every agent's heartbeat.
func (s *Scheduler) HeartbeatStatus(ctx context.Context, _ protocol.Empty) (out protocol.HeartbeatStatusResult, err error) {
	err = s.do(ctx, func() error { out.Agents = s.heartbeats.states(); return nil })
	return out, err
}

func (hb *heartbeats) states() map[protocol.AgentID]protocol.HeartbeatState {
	all := make(map[protocol.AgentID]protocol.HeartbeatState)
	for id, h := range hb.agents() {
		st := hb.beat(id).state
		d, err := h.Interval()
		switch { // the configuration may have changed since the last tick
		case d == 0:
			st.NextHeartbeatAt = nil
		case st.NextHeartbeatAt == nil:
			st.NextHeartbeatAt = new(now() + d.Milliseconds())
		}
		if err != nil {
			st.LastStatus, st.LastError = protocol.CronError, "The heartbeat is off because its interval is invalid: "+err.Error()
		}
		if st.Runs == 0 {
			st.EstimatedTokens = hb.estimate(id, h)
		}
		st.LastActive = hb.lastActive(id)
		all[id] = st
	}
	return all
}

// HeartbeatStart restarts every agent's interval now.
func (s *Scheduler) HeartbeatStart(ctx context.Context, _ protocol.Empty) (out protocol.HeartbeatStartResult, err error) {
	err = s.do(ctx, func() error {
		n, at := 0, now()
		for id, h := range s.heartbeats.agents() {
			if d, _ := h.Interval(); d > 0 {
				n++
				s.heartbeats.plan(s.heartbeats.beat(id), at+d.Milliseconds())
			}
		}
		out = protocol.HeartbeatStartResult{Message: fmt.Sprintf("Heartbeat scheduler started for %d agents", n), Agents: s.heartbeats.states()}
		if n == 0 {
			out.Message = "No agent has a heartbeat: agents.defaultHeartbeat.every is 0"
		}
		return nil
	})
	return out, err
}

// HeartbeatTrigger runs an agent's heartbeat now, even outside of the active hours, and waits for
// it.
func (s *Scheduler) HeartbeatTrigger(ctx context.Context, in protocol.HeartbeatTriggerParams) (out protocol.HeartbeatTriggerResult, err error) {
	id, err := protocol.ParseAgentID(in.AgentID)
	if err != nil {
		return out, err
	}
	done := make(chan heartbeatResult, 1)
	err = s.do(ctx, func() error {
		all := s.heartbeats.agents()
		h, ok := all[id]
		switch {
		case !ok:
			var names []string
			for _, id := range slices.Sorted(maps.Keys(all)) {
				names = append(names, string(id))
			}
			return protocol.ErrNotFound.With(fmt.Sprintf("There is no agent %s; there are %s", id, strings.Join(names, ", ")))
		case s.heartbeats.beat(id).running:
			done <- heartbeatResult{skip: protocol.SkipBusy}
		default:
			s.heartbeats.start(id, s.heartbeats.beat(id), h, done)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	select {
	case end := <-done:
		out = protocol.HeartbeatTriggerResult{OK: end.err == nil, Skipped: end.skip != "", SkipReason: end.skip}
		switch {
		case end.err != nil:
		case end.skip != "":
			out.Message = "A heartbeat is already running."
		case end.text == "":
			out.Message = strings.TrimSpace("Nothing to report. " + end.expired)
		default:
			out.Message = strings.TrimSpace("Reported: " + end.text + "\n" + end.expired)
		}
		return out, end.err
	case <-s.ended:
		return out, errStopping
	case <-ctx.Done():
		return out, ctx.Err()
	}
}
