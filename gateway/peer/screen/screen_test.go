package screen

import "testing"

func TestScreenKeepsLinesThatScrollOut(t *testing.T) {
	s := New(20, 2, 10)
	s.Write([]byte("one\r\ntwo\r\nthree"))
	for i, want := range map[int]string{-1: "one", 0: "two", 1: "three"} {
		if got := s.Text(i); got != want {
			t.Errorf("line %d: got %q, want %q", i, got, want)
		}
	}
}
