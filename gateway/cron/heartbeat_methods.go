package cron

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

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
				if err := s.heartbeats.plan(s.heartbeats.beat(id), at+d.Milliseconds()); err != nil {
					return err
				}
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
