package question

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question/questiontest"
)

// ask requests an approval that expires after a minute in a synctest bubble, and calls then once it
// is pending. It returns the published stages and the final state of the approval.
func ask(t *testing.T, g *Queue, then func(id protocol.QuestionID)) (seen []protocol.Question) {
	t.Helper()
	sub := g.Display.bus.Subscribe()
	defer sub.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := g.Ask(t.Context(), question(), time.Minute, nil); err != nil {
			t.Error(err)
		}
	}()
	for {
		c, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, *c.Question)
		if c.Question.State != protocol.QuestionPending {
			<-done
			return seen
		}
		if len(seen) == 1 && then != nil {
			then(c.Question.ID)
		}
	}
}

func TestUnseenQuestionIsTriedElsewhereUntilItIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(questiontest.NewStore(), nil, new(event.Bus))
		began := time.Now()
		var reached []time.Duration
		sub := g.Display.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Question.Unseen == protocol.MaxUnseen && !c.Question.Shown })
		defer sub.Close()
		go func() { // as the channels do
			c, err := sub.Next(t.Context())
			if err != nil {
				return
			}
			reached = append(reached, time.Since(began))
			if err := g.Display.Shown(t.Context(), protocol.QuestionShownParams{ID: c.Question.ID, Surface: protocol.SurfaceChannel}); err != nil {
				t.Error(err)
			}
		}()
		seen := ask(t, g, nil)
		var unseen []int
		for _, a := range seen[:len(seen)-1] {
			unseen = append(unseen, a.Unseen)
		}
		if !slices.Equal(unseen, []int{0, 1, 2, 2}) || !slices.Equal(reached, []time.Duration{2 * ShownWithin}) {
			t.Errorf("got unseen %v, reached after %v; want 0, 1, 2, 2, after twice the limit", unseen, reached)
		}
		if last := seen[len(seen)-2]; !last.Shown || last.SurfaceShown != protocol.SurfaceChannel || last.ShownAt == 0 {
			t.Errorf("got %+v; want Shown, SurfaceShown SurfaceChannel and ShownAt other than 0", last)
		}
	})
}

func TestShownQuestionStaysWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(questiontest.NewStore(), nil, new(event.Bus))
		seen := ask(t, g, func(id protocol.QuestionID) {
			for range 2 { // the second acknowledgement changes nothing
				if err := g.Display.Shown(t.Context(), protocol.QuestionShownParams{ID: id}); err != nil {
					t.Error(err)
				}
			}
		})
		if len(seen) != 3 || !seen[1].Shown || seen[1].SurfaceShown != protocol.SurfaceWindow || seen[1].Unseen != 0 || seen[2].State != protocol.QuestionExpired {
			t.Errorf("got %+v; want length 3, seen[1].Shown, seen[1].SurfaceShown SurfaceWindow, seen[1].Unseen 0 and seen[2].State QuestionExpired", seen)
		}
	})
}
