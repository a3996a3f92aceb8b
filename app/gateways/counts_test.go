package gateways

import (
	"io"
	"log/slog"
	"slices"
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestWindowReportsItsQuestionsToTheProgram(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, "a library's word\n-3\n")
		WriteCounts(w, func(yield func(feed.View) bool) {
			for _, n := range []int{0, 2, 2, 1, 0} {
				yield(waiting(n))
			}
		})
		w.Close()
	}()
	var heard []int
	readCounts(r, func(n int) { heard = append(heard, n) })
	if !slices.Equal(heard, []int{2, 1, 0}) {
		t.Errorf("heard: got %v, want %v", heard, []int{2, 1, 0})
	}
	r.Close()
	WriteCounts(w, func(yield func(feed.View) bool) {
		if yield(waiting(5)) {
			t.Error("it goes on though nobody hears it")
		}
	})

	g := New(t.Context(), t.TempDir(), "1.0", slog.New(slog.DiscardHandler))
	g.Lines.Update(func(l *[]Line) { *l = []Line{{ID: "a"}, {ID: "b"}} })
	g.setPending("b", 4)
	if got := g.Lines.Get(); got[0].Needs != 0 || got[1].Needs != 4 {
		t.Errorf("got %+v; want got[0].Needs 0 and got[1].Needs 4", got)
	}
}

// waiting is a view with n questions.
func waiting(n int) (v feed.View) {
	v.Questions.Pending = make([]protocol.Question, n)
	return v
}
