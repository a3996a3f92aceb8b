package state

import (
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/feed/feedtest"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

func TestQuestionsFollowTheGatewayAndTheAnswer(t *testing.T) {
	pairing := func(id protocol.QuestionID, kind string) protocol.Question {
		return protocol.Question{ID: id, Kind: kind, State: protocol.QuestionPending, Hash: "h", Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "tower"}}}
	}
	r := pairing("r", protocol.AskPair)
	r.ExpiresAt = 1
	late := r
	late.State, late.AnsweredBy = protocol.QuestionDenied, "phone"
	refuse, won := false, true
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{pairing("w", protocol.AskWiden), r}
		feedtest.On(f, protocol.QuestionAnswer, func(p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
			if refuse {
				return protocol.QuestionAnswerResult{}, protocol.ErrForbidden.With("not you")
			}
			return protocol.QuestionAnswerResult{Won: won, Question: late}, nil
		})
		feedtest.On(f, protocol.QuestionGet, func(p protocol.QuestionParams) (protocol.Question, error) {
			return pairing(p.ID, protocol.AskPair), nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		v := a.View()
		if v.Needs() != 2 || TrayOf(v).Items[2].Label != "Needs you (2)" || TrayOf(v).Items[2].Items[0].Request != "r" {
			t.Fatalf("waiting: %+v, %+v", v.Questions.Pending, TrayOf(v).Items[2])
		}
		a.Questions.Answer(r, question.Answer(true))
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &r}) // it was shown meanwhile
		if n := a.View().Needs(); n != 1 || len(f.Called(protocol.QuestionAnswer.Name)) != 1 {
			t.Errorf("after the answer %d questions wait", n)
		}
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &late})
		s := pairing("s", protocol.AskPair)
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &s})
		refuse = true
		a.Questions.Answer(s, question.Answer(true))
		synctest.Wait()
		if v := a.View(); v.Needs() != 2 || v.Notice == nil || !strings.Contains(v.Notice.Text, "not you") {
			t.Errorf("an answer that was refused: %+v, %+v", v.Questions.Pending, v.Notice)
		}
		refuse, won = false, false
		a.Questions.Answer(s, question.Answer(true))
		synctest.Wait()
		if v := a.View(); v.Notice == nil || !strings.Contains(v.Notice.Text, "already answered") || !strings.Contains(v.Notice.Text, "phone") {
			t.Errorf("a second answer: %+v, want who was first", v.Notice)
		}
	})
}
