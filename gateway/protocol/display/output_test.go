package display

import "testing"

func TestResultsAreReadable(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain",
		`{"status":"completed","output":"a\nb\n","tail":"a\nb\n","exitCode":0}`: "a\nb",
		`{"status":"completed","tail":"","exitCode":0}`:                         "",
		`{"status":"running","sessionId":"p1","pid":41,"tail":""}`:              "Running in the background as process 41. This chat is notified when it ends.",
		`{"path":"x","content":"text","lines":1}`:                               "text",
		`{"matches":["a.go","b.go"],"count":2}`:                                 "a.go\nb.go",
		`{"matches":[{"path":"a.go","line":3,"content":"func A"}]}`:             "a.go:3: func A",
		`{"path":"x","bytes":3}`:                                                "{\n  \"path\": \"x\",\n  \"bytes\": 3\n}",
		`{"output":"first \"quoted\"\nsecond [… 9 bytes left out`:               "first \"quoted\"\nsecond [… 9 bytes left out",
		"Error: timed out\nUntil then: {\"output\":\"some\"}":                   "some",
		"Error: no such file":                                                   "no such file",
	} {
		if got := Readable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzResults(f *testing.F) {
	f.Add(`{"output":"a\u00e9\`)
	f.Add("Error: Error: x\nUntil then: {")
	f.Fuzz(func(t *testing.T, s string) { Readable(s) })
}
