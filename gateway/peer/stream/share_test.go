package stream

import "testing"

func TestTransfersShareAConnectionEqually(t *testing.T) {
	t.Parallel()
	var s *Share
	if got := s.window(); got != Window {
		t.Errorf("without a Share: got %d bytes, want %d", got, Window)
	}
	s = new(Share)
	for _, c := range []struct{ running, want int }{{1, Window}, {2, sharedWindow / 2}, {10, sharedWindow / 10}, {100, minWindow}} {
		s.running.Store(int32(c.running))
		if got := s.window(); got != c.want {
			t.Errorf("%d transfers: got %d bytes each, want %d", c.running, got, c.want)
		}
	}
}
