package journal

import (
	"encoding/json"
	"testing"
)

func TestSummaryNamesWhatACallIsAbout(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"ls\n -la","path":"x"}`:                                       "ls -la",
		`{"paths":["a","b","c"]}`:                                                 "a and 2 more",
		`{"source":"box:/a","destination":"tower:inbox"}`:                         "box:/a to tower:inbox",
		`{"source":"","sources":["box:/a","box:/b"],"destination":"tower:inbox"}`: "box:/a and 1 more to tower:inbox",
		`{"source":"box:/a","sources":["box:/a","box:/b"],"destination":"c:"}`:    "box:/a and 1 more to c:",
		`{"n":1}`: "",
		`x`:       "",
	} {
		if got := summary(json.RawMessage(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
