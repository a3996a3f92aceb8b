package protocol

import "testing"

func TestWholeNumbersOfParamsMayHaveFractionsAndExponents(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]int{`{"limit":1e2}`: 100, `{"limit":20.0}`: 20, `{"limit":3}`: 3, `{"limit":1.5}`: -1, `{"limit":"1e2"}`: -1, `{"limit":1e40}`: -1} {
		t.Run(params, func(t *testing.T) {
			t.Parallel()
			var p SessionsListParams
			err := Unmarshal([]byte(params), &p)
			if (err == nil) != (want >= 0) || err == nil && p.Limit != want {
				t.Errorf("got limit %d, %v, want %d", p.Limit, err, want)
			}
		})
	}
}
