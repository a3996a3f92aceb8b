package cron

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// heartbeatOK is what the agent answers when there is nothing to tell.
const heartbeatOK = "HEARTBEAT_OK"

// sameText is for how long a text is not delivered again.
const sameText = 24 * time.Hour

const heartbeatPrompt = "This is your regular look around. HEARTBEAT.md below says what to look after; do what it asks now. Do not repeat what earlier chats " +
	"left open. If nothing needs the person, answer " + heartbeatOK + " and nothing else; otherwise answer with what they should know."

// beat is one agent's heartbeat. Only the loop touches it.
type beat struct {
	state   protocol.HeartbeatState
	running bool
}

// agents lists the agents that have a heartbeat, with its settings.
func (s *Scheduler) agents() map[protocol.AgentID]config.Heartbeat {
	cfg := s.o.Config().Agents
	all := make(map[protocol.AgentID]config.Heartbeat)
	for _, a := range cfg.List {
		h := cfg.DefaultHeartbeat
		if a.Heartbeat != nil {
			h = *a.Heartbeat
		}
		all[protocol.AgentID(strings.ToLower(a.ID))] = h
	}
	if len(all) == 0 {
		all[protocol.MainAgent] = cfg.DefaultHeartbeat
	}
	return all
}

// every is a heartbeat's interval; 0 is never.
func every(h config.Heartbeat) time.Duration {
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(h.Every), " ", ""))
	if err != nil || d <= 0 {
		return 0
	}
	return max(d, time.Minute)
}

// tickBeats begins the heartbeats whose time has come and returns when the next one comes, 0 for never.
func (s *Scheduler) tickBeats(at int64) (next int64) {
	for id, h := range s.agents() {
		b := s.beat(id)
		interval := every(h).Milliseconds()
		due := b.state.NextHeartbeatAt
		switch {
		case interval == 0 && due != nil:
			s.schedule(b, 0)
		case interval == 0:
		case due == nil || *due > at+interval: // new, or the interval was made shorter, or the clock was put back
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

// schedule sets when an agent's next heartbeat comes; 0 is never.
func (s *Scheduler) schedule(b *beat, at int64) {
	b.state.NextHeartbeatAt = nil
	if at > 0 {
		b.state.NextHeartbeatAt = &at
	}
	s.putBeat(b)
}

func (s *Scheduler) putBeat(b *beat) {
	if err := s.o.Store.PutHeartbeat(context.WithoutCancel(s.ctx), b.state); err != nil {
		slog.Error("A heartbeat could not be stored", "agent", b.state.AgentID, "err", err)
	}
}

// beatEnd is how a heartbeat ended. skip is why there was none.
type beatEnd struct {
	skip string
	text string // delivered
	err  error
}

// beatNow begins a heartbeat; check is false for one that the person asked for. done, when not nil, is told how it ended.
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
			end.text, end.err = s.heartbeat(s.ctx, id, h, last)
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
		if end.text != "" {
			st.LastHeartbeatText, st.LastHeartbeatSentAt = end.text, now()
		}
	}
	s.putBeat(b)
}

// whyNot says why a heartbeat is left out, or nothing.
func (s *Scheduler) whyNot(ctx context.Context, id protocol.AgentID, h config.Heartbeat, at time.Time) string {
	if !active(h.ActiveHours, at) {
		return protocol.SkipOutsideHours
	}
	text, err := s.o.HeartbeatFile(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return protocol.SkipNoFile
	case err == nil && nothingToDo(text):
		return protocol.SkipEmptyFile
	}
	st, err := s.sessions.Stats(ctx, protocol.SessionParams{SessionKey: mainSession(id)})
	if err == nil && (st.IsProcessing || st.QueueSize > 0) {
		return protocol.SkipBusy
	}
	return ""
}

// active reports whether a moment, given in the person's time zone, lies in the active hours: from start to before end, over midnight when
// end is earlier. What cannot be read does not restrict.
func active(h *config.ActiveHours, at time.Time) bool {
	if h == nil {
		return true
	}
	switch strings.ToLower(h.Timezone) {
	case "", "user":
	case "local":
		at = at.Local()
	default:
		if zone, err := time.LoadLocation(h.Timezone); err == nil {
			at = at.In(zone)
		}
	}
	start, err1 := minutes(h.Start)
	end, err2 := minutes(h.End)
	if err1 != nil || err2 != nil || start == end {
		return true
	}
	m := at.Hour()*60 + at.Minute()
	if start < end {
		return m >= start && m < end
	}
	return m >= start || m < end
}

func minutes(text string) (int, error) {
	if text == "24:00" {
		return 24 * 60, nil
	}
	hour, minute, err := clock(text)
	return hour*60 + minute, err
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	emptyLine   = regexp.MustCompile(`^(#.*|[-*_= ]{3,}|[-*+]\s*(\[[ xX]?\])?|\d+\.)?$`)
)

// nothingToDo reports whether a HEARTBEAT.md holds only headings, comments, rules and empty list items.
func nothingToDo(text string) bool {
	for line := range strings.Lines(htmlComment.ReplaceAllString(text, "")) {
		if !emptyLine.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}

// heartbeat lets the agent look around and delivers what it has to tell, which is returned; nothing when there is nothing new.
func (s *Scheduler) heartbeat(ctx context.Context, id protocol.AgentID, h config.Heartbeat, last protocol.HeartbeatState) (string, error) {
	prompt := h.Prompt
	if prompt == "" {
		prompt = heartbeatPrompt
	}
	if text, err := s.o.HeartbeatFile(id); err == nil && !nothingToDo(text) {
		prompt += "\n\n# HEARTBEAT.md\n\n" + strings.TrimSpace(text)
	}
	key := protocol.SessionKey(fmt.Sprintf("agent:%s:heartbeat:system:internal", id))
	if _, err := s.sessions.Create(ctx, protocol.SessionCreateParams{SessionKey: key, Label: "Heartbeat"}); err != nil {
		return "", err
	}
	daily, hour := "daily", 4
	policy := &protocol.ResetPolicyPatch{Mode: &daily, AtHour: &hour}
	if _, err := s.sessions.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, ResetPolicy: policy}); err != nil {
		return "", err
	}
	run := protocol.RunID(protocol.NewID())
	watch := s.watch(key, run)
	defer watch.sub.Close()
	at := time.UnixMilli(now()).In(s.zone())
	text := fmt.Sprintf("[Heartbeat, %s]\n%s", at.Format("Monday, 2 January 2006 15:04 MST"), prompt)
	if _, err := s.sessions.Send(ctx, auth.Schedule("heartbeat"), protocol.ChatSendParams{SessionKey: key, Message: text, RunID: run}); err != nil {
		return "", err
	}
	end, err := watch.wait(ctx, 0)
	if err != nil {
		return "", err
	}
	answer, err := s.answer(ctx, end)
	if err != nil {
		return "", err
	}
	answer = alert(answer)
	if answer == "" || h.Target == "none" ||
		answer == last.LastHeartbeatText && at.UnixMilli()-last.LastHeartbeatSentAt < sameText.Milliseconds() {
		return "", nil
	}
	d := Delivery{Agent: id, Name: "Heartbeat", Text: answer, From: key}
	if h.Target != "" && h.Target != "last" {
		if la := s.lastActive(id); la == nil || la.Channel != h.Target {
			return "", nil // a named channel gets it only while the person is there
		}
		d.Channel = h.Target
	}
	if _, err := s.o.Deliver(ctx, d); err != nil {
		return "", fmt.Errorf("it could not be delivered: %w", err)
	}
	return answer, nil
}

// alert is what of a heartbeat's answer is for the person: without the HEARTBEAT_OK at its beginning or end, and nothing when no word is left.
// The original left out whatever was shorter than 300 characters, and with it most real alerts.
func alert(answer string) string {
	text := strings.TrimSpace(answer)
	const marks = " \t\r\n*_`\"'-"
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, marks), heartbeatOK); ok {
		text = strings.TrimLeft(rest, marks+".!:")
	} else if rest, ok := strings.CutSuffix(strings.TrimRight(text, marks+".!"), heartbeatOK); ok {
		text = strings.TrimRight(rest, marks)
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return text
}

func (s *Scheduler) lastActive(id protocol.AgentID) *protocol.LastActive {
	if s.o.LastActive == nil {
		return nil
	}
	return s.o.LastActive(id)
}

// HeartbeatStatus says where every agent's heartbeat stands.
func (s *Scheduler) HeartbeatStatus(ctx context.Context, _ protocol.Empty) (out protocol.HeartbeatStatusResult, err error) {
	err = s.do(ctx, func() { out.Agents = s.beatStates() })
	return out, err
}

func (s *Scheduler) beatStates() map[protocol.AgentID]protocol.HeartbeatState {
	all := make(map[protocol.AgentID]protocol.HeartbeatState)
	for id := range s.agents() {
		st := s.beat(id).state
		st.LastActive = s.lastActive(id)
		all[id] = st
	}
	return all
}

// HeartbeatStart counts every agent's interval from now on.
func (s *Scheduler) HeartbeatStart(ctx context.Context, _ protocol.Empty) (out protocol.HeartbeatStartResult, err error) {
	err = s.do(ctx, func() {
		n, at := 0, now()
		for id, h := range s.agents() {
			if d := every(h); d > 0 {
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

// HeartbeatTrigger lets an agent look around now, whatever the hour and even if its file is empty, and waits for the end.
func (s *Scheduler) HeartbeatTrigger(ctx context.Context, in protocol.HeartbeatTriggerParams) (out protocol.HeartbeatTriggerResult, err error) {
	id := protocol.AgentID(strings.ToLower(string(in.AgentID)))
	if id == "" {
		id = protocol.MainAgent
	}
	done := make(chan beatEnd, 1)
	doErr := s.do(ctx, func() {
		all := s.agents()
		h, ok := all[id]
		b := s.beat(id)
		switch {
		case !ok && id != protocol.MainAgent:
			delete(s.beats, id)
			err = protocol.ErrNotFound.With(fmt.Sprintf("There is no agent %s; there are %s", id, strings.Join(names(all), ", ")))
		case b.running:
			done <- beatEnd{skip: protocol.SkipBusy}
		default:
			if !ok {
				h = s.o.Config().Agents.DefaultHeartbeat
			}
			s.beatNow(id, b, h, false, done)
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
			return protocol.HeartbeatTriggerResult{OK: true, Message: "There was nothing new to tell."}, nil
		}
		return protocol.HeartbeatTriggerResult{OK: true, Message: "Told: " + end.text}, nil
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
