package session

import (
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestEachRunOfAScheduleStartsAfresh(t *testing.T) {
	t.Parallel()
	g := withModel(t, llmtest.Say("One."), llmtest.Say("Two."), llmtest.Say("Because."), llmtest.Say("Three."))
	key := protocol.ScheduleChat(protocol.MainAgent, "j")
	send := func(p auth.Principal, text string) {
		t.Helper()
		res, err := g.Send(t.Context(), p, protocol.ChatSendParams{SessionKey: key, Message: text})
		if err != nil {
			t.Fatal(err)
		}
		g.end(res.RunID)
	}
	send(auth.Schedule("Count"), "first")
	send(auth.Schedule("Count"), "second")
	send(ann, "why?")
	send(auth.Schedule("Count"), "third")
	for i, want := range []int{1, 1, 3, 1} {
		if got := len(g.model.Requests()[i].Messages); got != want {
			t.Errorf("request %d has %d messages, want %d", i, got, want)
		}
	}
	p, err := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: key, Before: 1000, Limit: 100})
	if err != nil || len(p.Messages) != 8 {
		t.Errorf("the chat shows %d messages, %v, want all 8", len(p.Messages), err)
	}
	for i, want := range []string{protocol.OriginSchedule, "", protocol.OriginSchedule, "", protocol.OriginPerson, "", protocol.OriginSchedule, ""} {
		if got := p.Messages[i].Origin; got != want {
			t.Errorf("message %d is from %q, want %q", i, got, want)
		}
	}
	list, err := g.List(t.Context(), protocol.SessionsListParams{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Schedule != "j" {
		t.Errorf("got %+v, error %v, want the chat of the schedule j", list.Sessions, err)
	}
}

func TestOnlyChatsOfSchedulesNameOne(t *testing.T) {
	t.Parallel()
	for key, want := range map[protocol.SessionKey]protocol.CronJobID{
		protocol.ScheduleChat("main", "j"): "j", protocol.HeartbeatChat("helper"): protocol.HeartbeatSchedule, chat: "", newKey("main"): "",
		"agent:main:cron:j:run": "", "agent:main:xmpp:dm:cron": "", "cron": "",
	} {
		if got := key.Schedule(); got != want {
			t.Errorf("%s is of the schedule %q, want %q", key, got, want)
		}
	}
}
