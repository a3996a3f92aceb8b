package inbox

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

var exampleQuestion = protocol.Question{
	ID: "q", Kind: protocol.AskCall, State: protocol.QuestionPending, Node: "nas", Tool: "Bash",
	Args: json.RawMessage(`{"command":"make -j4\nmake install"}`), Effect: protocol.EffectExec, Hash: "h", Choices: []string{protocol.ScopeOnce},
}

func TestAnsweredQuestionDisappearsAtOnce(t *testing.T) {
	release := make(chan struct{})
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		release = make(chan struct{})
		f.Snapshot.Questions = []protocol.Question{exampleQuestion}
		feedtest.On(f, protocol.QuestionAnswer, func(p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
			<-release
			return protocol.QuestionAnswerResult{Won: true, Question: exampleQuestion}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		NewModel(a).Answer([]protocol.Question{exampleQuestion}, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
		if len(a.View().Questions.Pending) != 0 {
			t.Error("the question is still there")
		}
		shown := exampleQuestion
		shown.Shown = true
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &shown})
		if len(a.View().Questions.Pending) != 0 {
			t.Error("a change of the question brought it back while its answer is on the way")
		}
		close(release)
		closed := exampleQuestion
		closed.State, closed.AnsweredBy = protocol.QuestionAllowed, "desktop"
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &closed})
		v := a.View()
		if len(v.Questions.Closed) != 1 || v.Questions.Closed[0].AnsweredBy != "desktop" || !v.Questions.Closed[0].AnsweredHere {
			t.Errorf(`closed: got %+v; want length 1, Questions.Closed[0].AnsweredBy "desktop" and Questions.Closed[0].AnsweredHere`, v.Questions.Closed)
		}
		var sent protocol.QuestionAnswerParams
		if list := f.Called(protocol.QuestionAnswer.Name); len(list) != 1 || json.Unmarshal(list[0], &sent) != nil || sent.Hash != "h" {
			t.Errorf("sent: got %s, want one answer with hash h", list)
		}
	})
}

func TestFailedAnswerRestoresTheQuestion(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{exampleQuestion}
		feedtest.On(f, protocol.QuestionAnswer, func(protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
			return protocol.QuestionAnswerResult{}, protocol.ErrConflict.With("the question changed")
		})
		feedtest.On(f, protocol.QuestionList, func(protocol.Empty) (protocol.QuestionListResult, error) {
			return protocol.QuestionListResult{Questions: []protocol.Question{exampleQuestion}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		NewModel(a).Answer([]protocol.Question{exampleQuestion}, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
		synctest.Wait()
		v := a.View()
		if len(v.Questions.Pending) != 1 || v.Notice == nil || !strings.Contains(v.Notice.Text, "the question changed") {
			t.Errorf("approvals %v, notice %+v", v.Questions.Pending, v.Notice)
		}
	})
}

func TestSecondAnswerNamesWhoAnsweredFirst(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{exampleQuestion}
		feedtest.On(f, protocol.QuestionAnswer, func(protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
			q := exampleQuestion
			q.State, q.AnsweredBy = protocol.QuestionDenied, "owner phone"
			return protocol.QuestionAnswerResult{Question: q}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		NewModel(a).Answer([]protocol.Question{exampleQuestion}, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
		synctest.Wait()
		if n := a.View().Notice; n == nil || !strings.Contains(n.Text, "denied by phone") {
			t.Errorf(`notice: got %+v, want "denied by phone" in Text`, n)
		}
	})
}

func TestOneAnswerForManyReturnsTheQuestionsItMissed(t *testing.T) {
	open := make([]protocol.Question, 3)
	for i := range open {
		open[i] = exampleQuestion
		open[i].ID = protocol.QuestionID("q" + string(rune('0'+i)))
	}
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = open
		feedtest.On(f, protocol.QuestionAll, func(p protocol.QuestionAnswerAllParams) (r protocol.QuestionAnswerAllResult, err error) {
			time.Sleep(time.Second) // check the view before the answer arrives
			gone := open[2]
			gone.State, gone.AnsweredBy = protocol.QuestionDenied, "owner phone"
			r.Outcomes = []protocol.QuestionOutcome{{ID: "q0", Won: true, Question: &open[0]}, {ID: "q1", Error: protocol.ErrConflict.With("it changed")}, {ID: "q2", Question: &gone}}
			return r, nil
		})
		feedtest.On(f, protocol.QuestionList, func(protocol.Empty) (protocol.QuestionListResult, error) {
			return protocol.QuestionListResult{Questions: []protocol.Question{open[1]}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		NewModel(a).Answer(open, protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny})
		if v := a.View(); len(v.Questions.Pending) != 0 {
			t.Errorf("still there: %v", v.Questions.Pending)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		var sent protocol.QuestionAnswerAllParams
		if list := f.Called(protocol.QuestionAll.Name); len(list) != 1 || json.Unmarshal(list[0], &sent) != nil || len(sent.Questions) != 3 || sent.Questions[2].Hash != "h" {
			t.Errorf("sent: got %s, want one answer for three questions with hash h", list)
		}
		v := a.View()
		if len(v.Questions.Pending) != 1 || v.Questions.Pending[0].ID != "q1" {
			t.Errorf("after the answer %v wait", v.Questions.Pending)
		}
		if v.Notice == nil || !strings.Contains(v.Notice.Text, "denied by phone") {
			t.Errorf(`notice: got %+v, want "denied by phone" in Notice.Text`, v.Notice)
		}
	})
}

func TestPostponedQuestionIsHiddenEverywhereAndReturns(t *testing.T) {
	one, two := commandQuestion("make"), commandQuestion("ls")
	one.ID, two.ID = "one", "two"
	one.State, two.State = protocol.QuestionPending, protocol.QuestionPending
	refuse := false
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{one, two}
		feedtest.On(f, protocol.QuestionSnooze, func(protocol.QuestionSnoozeParams) (protocol.OK, error) {
			if refuse {
				return protocol.OK{}, protocol.ErrUnavailable.With("it is gone")
			}
			return protocol.OK{OK: true}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		NewModel(a).Snooze(one)
		v := a.View()
		if w := v.Questions.Pending.Unsnoozed(); len(w) != 1 || w[0].ID != "two" || len(v.Questions.Pending) != 2 {
			t.Errorf(`waiting: got %v; want length 1, w[0].ID "two" and v.Questions.Pending of length 2`, w)
		}
		if in := question.Groups(v); len(in) != 2 || in[0].ID != "two" || in[1].Later == 0 {
			t.Errorf(`inbox: got %v; want length 2, in[0].ID "two" and in[1].Later other than 0`, in)
		}
		if n := v.Needs(); n != 2 {
			t.Errorf("Needs: got %d, want 2", n)
		}
		synctest.Wait()
		var sent protocol.QuestionSnoozeParams
		if list := f.Called(protocol.QuestionSnooze.Name); len(list) != 1 || json.Unmarshal(list[0], &sent) != nil || sent.For != protocol.SnoozeFor.Milliseconds() {
			t.Errorf("sent: got %s, want one postponement for %d ms", list, protocol.SnoozeFor.Milliseconds())
		}
		back := one // the gateway's event at the end of the time
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &back})
		if w := a.View().Questions.Pending.Unsnoozed(); len(w) != 2 {
			t.Errorf("waiting: got %v, want length 2", w)
		}
		off := two // snoozed in another program's window
		off.Later = time.Now().Add(time.Hour).UnixMilli()
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &off})
		if w := a.View().Questions.Pending.Unsnoozed(); len(w) != 1 || w[0].ID != "one" {
			t.Errorf(`waiting: got %v; want length 1 and w[0].ID "one"`, w)
		}
		NewModel(a).Unsnooze(two)
		if w := a.View().Questions.Pending.Unsnoozed(); len(w) != 2 {
			t.Errorf("waiting: got %v, want length 2", w)
		}
		synctest.Wait()
		refuse = true
		NewModel(a).Snooze(one, two)
		synctest.Wait()
		v = a.View()
		if w := v.Questions.Pending.Unsnoozed(); len(w) != 2 || v.Notice == nil || !strings.Contains(v.Notice.Text, "it is gone") {
			t.Errorf("after a failure %v wait, notice %+v", w, v.Notice)
		}
	})
}

func TestInboxGroupsEqualQuestions(t *testing.T) {
	var v feed.View
	for _, id := range []protocol.QuestionID{"a", "b", "c"} {
		q := commandQuestion("make")
		q.ID = id
		v.Questions.Pending = append(v.Questions.Pending, q)
	}
	other := commandQuestion("ls")
	v.Questions.Pending = append(v.Questions.Pending, other)
	in := question.Groups(v)
	if len(in) != 2 || len(in[0].All) != 3 || len(in[1].All) != 1 {
		t.Errorf("inbox: got %v; want length 2, in[0].All of length 3 and in[1].All of length 1", in)
	}
	v.Questions.Pending[0].Later = 1
	if in = question.Groups(v); in[0].Later != 0 {
		t.Error("two of three still wait, and the three are shown as put off")
	}
}

func commandQuestion(text string) protocol.Question {
	args, _ := protocol.Marshal(map[string]string{"command": text})
	return protocol.Question{
		ID: "q", Kind: protocol.AskCall, Tool: "Bash", Node: "server", Effect: protocol.EffectExec, Args: args,
		Preview: &protocol.CallPreview{Folder: "/srv/parser"},
	}
}

func TestQuestionsFollowTheGatewayAndTheAnswer(t *testing.T) {
	pairing := func(id protocol.QuestionID, kind string) protocol.Question {
		return protocol.Question{ID: id, Kind: kind, State: protocol.QuestionPending, Hash: "h", Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "tower"}}}
	}
	r := pairing("r", protocol.AskPair)
	r.ExpiresAt = 1
	late := r
	late.State, late.AnsweredBy = protocol.QuestionDenied, "phone"
	refuse, won := false, true
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{pairing("w", protocol.AskWiden), r}
		feedtest.On(f, protocol.QuestionAnswer, func(p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
			if refuse {
				return protocol.QuestionAnswerResult{}, protocol.ErrForbidden.With("not you")
			}
			return protocol.QuestionAnswerResult{Won: won, Question: late}, nil
		})
		feedtest.On(f, protocol.QuestionList, func(protocol.Empty) (protocol.QuestionListResult, error) {
			return protocol.QuestionListResult{Questions: []protocol.Question{pairing("s", protocol.AskPair)}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		v := a.View()
		if v.Needs() != 2 || v.Questions.Pending[0].ID != "r" {
			t.Fatalf("waiting: got %+v, want the request with a time limit first", v.Questions.Pending)
		}
		NewModel(a).Answer([]protocol.Question{r}, question.Answer(true))
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &r}) // it was shown meanwhile
		if n := a.View().Needs(); n != 1 || len(f.Called(protocol.QuestionAnswer.Name)) != 1 {
			t.Errorf("after the answer %d questions wait; want 1", n)
		}
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &late})
		s := pairing("s", protocol.AskPair)
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &s})
		refuse = true
		NewModel(a).Answer([]protocol.Question{s}, question.Answer(true))
		synctest.Wait()
		if v := a.View(); v.Needs() != 2 || v.Notice == nil || !strings.Contains(v.Notice.Text, "not you") {
			t.Errorf("an answer that was refused: %+v, %+v", v.Questions.Pending, v.Notice)
		}
		refuse, won = false, false
		NewModel(a).Answer([]protocol.Question{s}, question.Answer(true))
		synctest.Wait()
		if v := a.View(); v.Notice == nil || !strings.Contains(v.Notice.Text, "already answered") || !strings.Contains(v.Notice.Text, "phone") {
			t.Errorf("a second answer: %+v, want who was first", v.Notice)
		}
	})
}
