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
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// heartbeatOK is the agent's answer when there is nothing to report.
const heartbeatOK = "HEARTBEAT_OK"

// repeatAfter is the time during which the same text is not delivered again.
const repeatAfter = 24 * time.Hour

const heartbeatPrompt = "This is your regular check. HEARTBEAT.md below lists what to check; do it now. " +
	"Do not repeat unfinished work of earlier chats. If nothing needs the person's attention, answer " + heartbeatOK + " and nothing else; otherwise answer with what they should know."

// skipReason returns the reason for skipping a heartbeat, or "".
func (hb *heartbeats) skipReason(ctx context.Context, id protocol.AgentID, h config.Heartbeat, at time.Time) string {
	if !isActive(h.ActiveHours, at) {
		return protocol.SkipOutsideHours
	}
	text, err := hb.o.HeartbeatFile(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return protocol.SkipNoFile
	case err == nil && isEmptyChecklist(text):
		return protocol.SkipEmptyFile
	}
	st, err := hb.o.Runs.Stats(ctx, protocol.SessionParams{SessionKey: hb.o.mainSession(id)})
	if err == nil && (st.IsProcessing || st.QueueSize > 0) {
		return protocol.SkipBusy
	}
	return ""
}

// isActive reports whether a time lies in the active hours: from start until just before end,
// across midnight when end is earlier. Invalid values do not restrict.
func isActive(h *config.ActiveHours, at time.Time) bool {
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

// isEmptyChecklist reports whether a HEARTBEAT.md has no entries.
func isEmptyChecklist(text string) bool {
	text = strings.TrimPrefix(text, "\uFEFF") // some editors begin a file with a byte order mark
	for line := range strings.Lines(htmlComment.ReplaceAllString(text, "")) {
		if !emptyLine.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}

// runAgent runs the agent and delivers its report; delivered is "" when there is nothing new.
func (hb *heartbeats) runAgent(ctx context.Context, id protocol.AgentID, h config.Heartbeat, last protocol.HeartbeatState, run protocol.RunID) (delivered, expired string, err error) {
	prompt := h.Prompt
	prompt = cmp.Or(prompt, heartbeatPrompt)
	if text, err := hb.o.HeartbeatFile(id); err == nil && !isEmptyChecklist(text) {
		prompt += "\n\n# HEARTBEAT.md\n\n" + strings.TrimSpace(text)
	}
	key := protocol.HeartbeatChat(id)
	if _, err := hb.o.Chats.Create(ctx, protocol.SessionCreateParams{SessionKey: key, Label: "Heartbeat"}); err != nil {
		return "", "", err
	}
	daily, hour := "daily", 4
	policy := &protocol.ResetPolicyPatch{Mode: &daily, AtHour: &hour}
	if _, err := hb.o.Chats.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, ResetPolicy: policy}); err != nil {
		return "", "", err
	}
	at := time.UnixMilli(now()).In(hb.o.zone())
	text := fmt.Sprintf("[Heartbeat, %s]\n%s", at.Format("Monday, 2 January 2006 15:04 MST"), prompt)
	answer, expired, err := hb.runner.follow(ctx, agentRun{session: key, id: run}, func() error {
		in := protocol.ChatSendParams{SessionKey: key, Message: text, RunID: run}
		_, err := hb.o.Messages.Send(ctx, auth.Schedule("heartbeat"), in)
		return err
	})
	if err != nil {
		return "", "", err
	}
	answer = textWithout(heartbeatOK, answer)
	if answer == "" || h.Target == "none" ||
		answer == last.LastHeartbeatText && at.UnixMilli()-last.LastHeartbeatSentAt < repeatAfter.Milliseconds() {
		return "", expired, nil
	}
	hb.o.Bus.PublishNoticeOf(protocol.Notice{Level: "info", Title: "Heartbeat", Text: format.FirstLine(answer, maxNotice), SessionKey: key})
	d := Delivery{Agent: id, Text: answer}
	if h.Target != "" && h.Target != "last" {
		if la := hb.lastActive(id); la == nil || la.Channel != h.Target {
			return "", expired, nil // a named channel gets the report only if the person used it last
		}
		d.Channel = h.Target
	}
	if _, err := hb.o.Deliver(ctx, d); err != nil {
		return "", expired, fmt.Errorf("deliver the report: %w", err)
	}
	return answer, expired, nil
}

// textWithout returns the part of an answer that is for the person: without the token for nothing at
// the beginning or end, and "" when no words remain. GSV drops most real alerts.
func textWithout(token, answer string) string {
	text := strings.TrimSpace(answer)
	const marks = " \t\r\n*_`\"'-"
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, marks), token); ok {
		text = strings.TrimLeft(rest, marks+".!:")
	} else if rest, ok := strings.CutSuffix(strings.TrimRight(text, marks+".!"), token); ok {
		text = strings.TrimRight(rest, marks)
	}
	if !strings.ContainsFunc(text, isWord) {
		return ""
	}
	return text
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	emptyLine   = regexp.MustCompile(`^(#.*|[-*_= ]{3,}|[-*+]\s*(\[[ xX]?\])?|\d+\.)?$`)
)
