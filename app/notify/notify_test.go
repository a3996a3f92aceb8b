package notify

import "testing"

func TestATextIsNeverAnOption(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-eproperty p : 1 --": "\u2010eproperty p : 1 --", "--": "\u2010-", "a -e": "a -e", "": "", "a\nb": "a b",
	} {
		if got := oneLine(text, 100); got != want {
			t.Errorf("oneLine(%q): got %q, want %q", text, got, want)
		}
	}
}
