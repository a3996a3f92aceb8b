package job

import (
	"testing"
	"time"
)

func TestOldSessionsAreForgotten(t *testing.T) {
	s := Commands{all: map[string]Opened{"old": {used: time.Now().Add(-OpenTime - time.Minute)}, "new": {used: time.Now()}}}
	s.add("x", Opened{})
	if _, ok := s.all["old"]; ok || len(s.all) != 2 {
		t.Errorf("left: got %v, want the new ones", s.all)
	}
}
