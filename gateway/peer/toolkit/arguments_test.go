package toolkit

import "testing"

func TestWholeNumbersExceed32Bits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]int64{0: 0, 10: 10, 5_000_000_000: 5_000_000_000, 1 << 53: 1 << 53, 1e300: 1 << 53} {
		if got, err := WholeNumber("offset", &v, 7); err != nil || got != want {
			t.Errorf("%v: got %d and error %v, want %d", v, got, err, want)
		}
	}
}
