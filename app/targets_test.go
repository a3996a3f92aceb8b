package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/lists"
	"fairlead/app/pagetest"
)

func TestAWindowAsksWhetherAGatewayMayReachAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newTestUI(t)
		asks := u.backend.Gateways.Nodes.Targets
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answer := make(chan bool, 1)
		go func() {
			allow, _ := asks.For("Anna’s desk")(ctx, "db.lan:5432")
			answer <- allow
		}()
		synctest.Wait()
		u.targets.show(asks.Question.Get())
		w, ok := lists.Find(u.app.Driver().AllWindows(), func(w fyne.Window) bool { return w.Title() == "Allow connections from this computer to db.lan:5432?" })
		if !ok {
			t.Fatal("no window asks")
		}
		u.targets.tick(time.Now().Add(3 * time.Second))
		test.Tap(pagetest.Button(t, w.Content(), "Allow from now on"))
		if !<-answer {
			t.Error("got no, want the answer of the button")
		}
		synctest.Wait()
		u.targets.show(asks.Question.Get())
		if u.targets.window != nil {
			t.Error("the window is still open after the answer")
		}
	})
}
