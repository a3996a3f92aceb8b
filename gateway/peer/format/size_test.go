package format

import "testing"

func TestSizesUseDecimalUnits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 812: "812 B", 999: "999 B", 1000: "1.0 kB", 1_400_000_000: "1.4 GB", 86_000_000: "86 MB", 999_999: "1.0 MB", 9_990_000: "10 MB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
