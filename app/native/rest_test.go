package native

import (
	"testing"
	"time"
)

func TestSleepEndsWithAnEvent(t *testing.T) {
	if Asleep() != nil {
		t.Fatal("asleep at the start")
	}
	asleep.begin()
	ended := Asleep()
	asleep.begin() // the same sleep
	if ended == nil || Asleep() != ended {
		t.Fatal("the sleep is another one")
	}
	select {
	case <-ended:
		t.Fatal("the sleep ends without an event")
	default:
	}
	Wake()
	<-ended
	if Asleep() != nil {
		t.Error("still asleep after an event")
	}
}

func TestNoRestWhileAwake(t *testing.T) {
	StayAwake(time.Hour)
	defer awakeUntil.Store(0)
	Wake()
	if got := quiet(); got > -time.Minute {
		t.Errorf("the thread may rest after %v", restAfter-got)
	}
}
