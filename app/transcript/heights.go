package transcript

// heights stores the heights of many rows and computes prefix sums in logarithmic time (a Fenwick
// tree). Sums are float64: a float32 cannot represent two million units in steps of a quarter.
type heights struct {
	h    []float32
	tree []float64
}

func newHeights(h []float32) *heights {
	s := &heights{h: h, tree: make([]float64, len(h)+1)}
	for i, v := range h {
		s.tree[i+1] += float64(v)
		if j := i + 1 + (i+1)&-(i+1); j < len(s.tree) {
			s.tree[j] += s.tree[i+1]
		}
	}
	return s
}

func (s *heights) set(i int, v float32) {
	d := float64(v) - float64(s.h[i])
	if d == 0 {
		return
	}
	s.h[i] = v
	for j := i + 1; j < len(s.tree); j += j & -j {
		s.tree[j] += d
	}
}

// before returns the sum of the heights of the rows before i.
func (s *heights) before(i int) float64 {
	sum := 0.0
	for ; i > 0; i -= i & -i {
		sum += s.tree[i]
	}
	return sum
}

func (s *heights) total() float64 { return s.before(len(s.h)) }

// at returns the row at offset y and the offset within it.
func (s *heights) at(y float64) (row int, into float32) {
	if len(s.h) == 0 || y <= 0 {
		return 0, 0
	}
	step := 1
	for step*2 <= len(s.h) {
		step *= 2
	}
	pos := 0
	for ; step > 0; step /= 2 {
		if pos+step < len(s.tree) && s.tree[pos+step] <= y {
			pos += step
			y -= s.tree[pos]
		}
	}
	if pos >= len(s.h) {
		return len(s.h) - 1, s.h[len(s.h)-1]
	}
	return pos, float32(y)
}
