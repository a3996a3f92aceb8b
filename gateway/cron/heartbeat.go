package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// beat is one agent's heartbeat. Only the loop accesses it.
type beat struct {
	state   protocol.HeartbeatState
	running bool
}

// agents returns all agents with their heartbeat settings. The main agent always exists: a list of
// other agents does not turn off its heartbeat.
func (s *Scheduler) agents() map[protocol.AgentID]config.Heartbeat {
	cfg := s.o.Config().Agents
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

// tickBeats starts the heartbeats that are due and returns the time of the next one, or 0.
func (s *Scheduler) tickBeats(at int64) (next int64) {
	for id, h := range s.agents() {
		b := s.beat(id)
		d, _ := h.Interval() // heartbeat.status reports an invalid interval
		interval := d.Milliseconds()
		due := b.state.NextHeartbeatAt
		switch {
		case interval == 0 && due != nil:
			s.schedule(b, 0)
		case interval == 0:
		case due == nil || *due > at+interval: // a new agent, a shorter interval, or a clock that was set back
			s.schedule(b, at+interval)
		case *due <= at && !b.running:
			s.schedule(b, at+interval)
			s.beatNow(id, b, h, true, nil)
		}
		if due = b.state.NextHeartbeatAt; due != nil && (next == 0 || *due < next) {
			next = *due
		}
	}
	for id, b := range s.beats {
		if _, ok := s.agents()[id]; !ok && b.state.NextHeartbeatAt != nil {
			s.schedule(b, 0)
		}
	}
	return next
}

func (s *Scheduler) beat(id protocol.AgentID) *beat {
	b := s.beats[id]
	if b == nil {
		b = &beat{state: protocol.HeartbeatState{AgentID: id}}
		s.beats[id] = b
	}
	return b
}

// schedule plans an agent's next heartbeat; 0 means never.
func (s *Scheduler) schedule(b *beat, at int64) {
	b.state.NextHeartbeatAt = nil
	if at > 0 {
		b.state.NextHeartbeatAt = &at
	}
	s.putBeat(b)
}

func (s *Scheduler) putBeat(b *beat) {
	if err := s.o.Store.Heartbeats.Put(context.WithoutCancel(s.ctx), b.state); err != nil {
		slog.Error("A heartbeat could not be stored", "agent", b.state.AgentID, "err", err)
	}
}

// beatEnd is the outcome of a heartbeat. skip is the reason why it was skipped.
type beatEnd struct {
	skip string
	text string // the delivered report
	// missed describes the calls that were not made because nobody answered their approvals.
	missed string
	err    error
}

// beatNow starts a heartbeat. check is false for one that the person requested. done may be nil and
// receives the outcome.
func (s *Scheduler) beatNow(id protocol.AgentID, b *beat, h config.Heartbeat, check bool, done chan<- beatEnd) {
	b.running = true
	last := b.state
	at := time.UnixMilli(now()).In(s.zone())
	s.wg.Go(func() {
		var end beatEnd
		if check {
			end.skip = s.whyNot(s.ctx, id, h, at)
		}
		if end.skip == "" {
			end.text, end.missed, end.err = s.heartbeat(s.ctx, id, h, last)
		}
		if done != nil {
			done <- end
		}
		s.report(func() { s.beatEnded(b, at.UnixMilli(), end) })
	})
}

func (s *Scheduler) beatEnded(b *beat, began int64, end beatEnd) {
	b.running = false
	st := &b.state
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
		if end.missed != "" {
			st.LastStatus, st.LastError = protocol.CronError, end.missed
		}
		if end.text != "" {
			st.LastHeartbeatText, st.LastHeartbeatSentAt = end.text, now()
		}
	}
	s.putBeat(b)
}

func (s *Scheduler) lastActive(id protocol.AgentID) *protocol.LastActive {
	if s.o.LastActive == nil {
		return nil
	}
	return s.o.LastActive(s.ctx, id)
}

// HeartbeatStatus returns the state of every agent's heartbeat.
func (s *Scheduler) HeartbeatStatus(ctx context.Context, _ protocol.Empty) (out protocol.HeartbeatStatusResult, err error) {
	err = s.do(ctx, func() { out.Agents = s.beatStates() })
	return out, err
}

func (s *Scheduler) beatStates() map[protocol.AgentID]protocol.HeartbeatState {
	all := make(map[protocol.AgentID]protocol.HeartbeatState)
	for id, h := range s.agents() {
		st := s.beat(id).state
		if _, err := h.Interval(); err != nil {
			st.LastStatus, st.LastError = protocol.CronError, "There is no heartbeat, its interval cannot be read: "+err.Error()
		}
		st.LastActive = s.lastActive(id)
		all[id] = st
	}
	return all
}

// HeartbeatStart restarts every agent's interval now.
func (s *Scheduler) HeartbeatStart(ctx context.Context, _ protocol.Empty) (out protocol.HeartbeatStartResult, err error) {
	err = s.do(ctx, func() {
		n, at := 0, now()
		for id, h := range s.agents() {
			if d, _ := h.Interval(); d > 0 {
				n++
				s.schedule(s.beat(id), at+d.Milliseconds())
			}
		}
		out = protocol.HeartbeatStartResult{Message: fmt.Sprintf("Heartbeat scheduler started for %d agents", n), Agents: s.beatStates()}
		if n == 0 {
			out.Message = "No agent has a heartbeat: agents.defaultHeartbeat.every is 0"
		}
	})
	return out, err
}

// HeartbeatTrigger runs an agent's heartbeat now, even outside of the active hours or with an empty
// file, and waits for its end.
func (s *Scheduler) HeartbeatTrigger(ctx context.Context, in protocol.HeartbeatTriggerParams) (out protocol.HeartbeatTriggerResult, err error) {
	id, err := protocol.ParseAgentID(in.AgentID)
	if err != nil {
		return out, err
	}
	done := make(chan beatEnd, 1)
	doErr := s.do(ctx, func() {
		all := s.agents()
		h, ok := all[id]
		switch {
		case !ok:
			err = protocol.ErrNotFound.With(fmt.Sprintf("There is no agent %s; there are %s", id, strings.Join(names(all), ", ")))
		case s.beat(id).running:
			done <- beatEnd{skip: protocol.SkipBusy}
		default:
			s.beatNow(id, s.beat(id), h, false, done)
		}
	})
	if err = errors.Join(doErr, err); err != nil {
		return out, err
	}
	select {
	case end := <-done:
		switch {
		case end.err != nil:
			return out, end.err
		case end.skip != "":
			return protocol.HeartbeatTriggerResult{OK: true, Message: "A heartbeat is under way already.", Skipped: true, SkipReason: end.skip}, nil
		case end.text == "":
			return protocol.HeartbeatTriggerResult{OK: true, Message: strings.TrimSpace("There was nothing new to tell. " + end.missed)}, nil
		}
		return protocol.HeartbeatTriggerResult{OK: true, Message: strings.TrimSpace("Told: " + end.text + "\n" + end.missed)}, nil
	case <-s.ended:
		return out, errStopping
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

func names(all map[protocol.AgentID]config.Heartbeat) []string {
	var list []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, string(id))
	}
	return list
}
