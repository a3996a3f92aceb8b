package format

import "testing"

func TestFirstLineOfAnAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"":                            "",
		"Built.\nNo warnings.":        "Built.",
		"\n## **Result**\n\nIt works": "Result",
		"---\n> It works":             "It works",
	} {
		if got := FirstLine(answer, 0); got != want {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
}
