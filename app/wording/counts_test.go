package wording

import "testing"

func TestCountsOfTokensAreShort(t *testing.T) {
	for n, want := range map[int64]string{950: "950", 42_100: "42k", 999_400: "999k", 999_600: "1M", 1_048_576: "1M", 1_200_000: "1.2M"} {
		if got := Tokens(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
