package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"
	"unicode"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// heartbeatOK is the agent's answer when there is nothing to report.
const heartbeatOK = "HEARTBEAT_OK"

// sameText is the time during which the same text is not delivered again.
const sameText = 24 * time.Hour

const heartbeatPrompt = "This is your regular look around. HEARTBEAT.md below says what to look after; do what it asks now. " +
	"Do not repeat what earlier chats left open. If nothing needs the person, answer " + heartbeatOK + " and nothing else; otherwise answer with what they should know."

// whyNot returns the reason for skipping a heartbeat, or "".
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
	st, err := s.sessions.Stats(ctx, protocol.SessionParams{SessionKey: s.mainSession(id)})
	if err == nil && (st.IsProcessing || st.QueueSize > 0) {
		return protocol.SkipBusy
	}
	return ""
}

// active reports whether a time, given in the person's time zone, lies in the active hours: from
// start until just before end, across midnight when end is earlier. start defaults to 00:00 and end
// to 24:00. Invalid values do not restrict.
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
	start, err1 := minutes(cmp.Or(h.Start, "00:00"))
	end, err2 := minutes(cmp.Or(h.End, "24:00"))
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

// nothingToDo reports whether a HEARTBEAT.md contains only headings, comments, horizontal rules and
// empty list items.
func nothingToDo(text string) bool {
	text = strings.TrimPrefix(text, "\uFEFF") // some editors begin a file with a byte order mark
	for line := range strings.Lines(htmlComment.ReplaceAllString(text, "")) {
		if !emptyLine.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}

// heartbeat runs the agent and delivers its report. told is the delivered report, or "" when there
// is nothing new. missed is the result of [Scheduler.unanswered].
func (s *Scheduler) heartbeat(ctx context.Context, id protocol.AgentID, h config.Heartbeat, last protocol.HeartbeatState) (told, missed string, err error) {
	prompt := h.Prompt
	if prompt == "" {
		prompt = heartbeatPrompt
	}
	if text, err := s.o.HeartbeatFile(id); err == nil && !nothingToDo(text) {
		prompt += "\n\n# HEARTBEAT.md\n\n" + strings.TrimSpace(text)
	}
	key := protocol.SessionKey(fmt.Sprintf("agent:%s:heartbeat:system:internal", id))
	if _, err := s.sessions.Create(ctx, protocol.SessionCreateParams{SessionKey: key, Label: "Heartbeat"}); err != nil {
		return "", "", err
	}
	daily, hour := "daily", 4
	policy := &protocol.ResetPolicyPatch{Mode: &daily, AtHour: &hour}
	if _, err := s.sessions.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, ResetPolicy: policy}); err != nil {
		return "", "", err
	}
	run := protocol.RunID(protocol.NewID())
	watch := s.watch(key, run)
	defer watch.sub.Close()
	at := time.UnixMilli(now()).In(s.zone())
	text := fmt.Sprintf("[Heartbeat, %s]\n%s", at.Format("Monday, 2 January 2006 15:04 MST"), prompt)
	if _, err := s.sessions.Send(ctx, auth.Schedule("heartbeat"), protocol.ChatSendParams{SessionKey: key, Message: text, RunID: run}); err != nil {
		return "", "", err
	}
	end, err := watch.wait(ctx, 0)
	if err != nil {
		return "", "", err
	}
	answer, err := s.answer(ctx, end)
	if err != nil {
		return "", "", err
	}
	if missed, err = s.unanswered(ctx, run); err != nil {
		return "", "", err
	}
	answer = alert(answer)
	if answer == "" || h.Target == "none" ||
		answer == last.LastHeartbeatText && at.UnixMilli()-last.LastHeartbeatSentAt < sameText.Milliseconds() {
		return "", missed, nil
	}
	d := Delivery{Agent: id, Name: "Heartbeat", Text: answer, From: key}
	if h.Target != "" && h.Target != "last" {
		if la := s.lastActive(id); la == nil || la.Channel != h.Target {
			return "", missed, nil // a named channel gets the report only if the person used it last
		}
		d.Channel = h.Target
	}
	if _, err := s.o.Deliver(ctx, d); err != nil {
		return "", missed, fmt.Errorf("it could not be delivered: %w", err)
	}
	return answer, missed, nil
}

// alert returns the part of a heartbeat's answer that is for the person: without a HEARTBEAT_OK at
// the beginning or end, and "" when no words remain. The original system drops every text below 300
// characters, and with it most real alerts.
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

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	emptyLine   = regexp.MustCompile(`^(#.*|[-*_= ]{3,}|[-*+]\s*(\[[ xX]?\])?|\d+\.)?$`)
)
