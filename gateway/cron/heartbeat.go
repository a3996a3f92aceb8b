package cron

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// beat is one agent's heartbeat. Only the loop accesses it.
type beat struct {
	state   protocol.HeartbeatState
	running bool
	retryAt int64 // when to try again to store its next time; 0 if that is stored
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
		case b.retryAt > at:
		case interval == 0 && due != nil:
			hb.replan(b, 0, at)
		case interval == 0:
		case due == nil || *due > at+interval: // a new agent, a shorter interval, or a clock that was set back
			hb.replan(b, at+interval, at)
		case *due <= at && !b.running:
			if hb.replan(b, at+interval, at) {
				hb.start(id, b, h, nil)
			}
		}
		if b.retryAt > at {
			due = &b.retryAt
		} else {
			due = b.state.NextHeartbeatAt
		}
		if due != nil && (next == 0 || *due < next) {
			next = *due
		}
	}
	for id, b := range hb.beats {
		if _, ok := hb.agents()[id]; !ok && b.state.NextHeartbeatAt != nil && b.retryAt <= at {
			hb.replan(b, 0, at)
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

// replan is plan for a heartbeat that nobody asked for: it reports whether the time was stored, and
// otherwise tries again later than at.
func (hb *heartbeats) replan(b *beat, next, at int64) bool {
	err := hb.plan(b, next)
	if err != nil {
		slog.Error("A heartbeat could not be stored", "agent", b.state.AgentID, "err", err)
		b.retryAt = at + retryAfter.Milliseconds()
	}
	return err == nil
}

// plan plans an agent's next heartbeat; 0 means never.
func (hb *heartbeats) plan(b *beat, at int64) error {
	next := b.state
	next.NextHeartbeatAt = nil
	if at > 0 {
		next.NextHeartbeatAt = &at
	}
	return hb.save(b, next)
}

// save stores a heartbeat's state. If that fails, the state stays as it is.
func (hb *heartbeats) save(b *beat, next protocol.HeartbeatState) error {
	if err := hb.o.Stores.Heartbeats.Put(context.WithoutCancel(hb.ctx), next); err != nil {
		return err
	}
	b.state, b.retryAt, hb.changed = next, 0, true
	return nil
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
		hb.report(func() {
			if err := hb.finish(b, at.UnixMilli(), end); err != nil {
				slog.Error("The end of a heartbeat could not be stored", "agent", id, "err", err)
				end.err = errors.Join(end.err, err)
			}
			if done != nil {
				done <- end
			}
		})
	})
}

func (hb *heartbeats) finish(b *beat, began int64, end heartbeatResult) error {
	b.running = false
	next := b.state
	st := &next
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
	return hb.save(b, next)
}

// usageOf returns the tokens and the cost of a run so far.
func (hb *heartbeats) usageOf(run protocol.RunID) (sum protocol.Usage) {
	msgs, err := hb.o.Stores.Messages.OfRun(context.WithoutCancel(hb.ctx), run)
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
