package app

import (
	"testing"

	"fairlead/app/pagetest"
)

func TestPathsAreWholeInAddressesOfFiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/me/50% done #1?": "file:///home/me/50%25%20done%20%231%3F",
		"C:/Users/Zoë":          "file:///C:/Users/Zo%C3%AB",
	} {
		t.Run(path, func(t *testing.T) {
			if got := fileURL(path).String(); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		})
	}
}

func TestALinkThatIsNotOpenedSaysWhy(t *testing.T) {
	for link, want := range map[string]string{"README.md": "Only web and mail links", "file:///etc/passwd": "can be opened", "http://[": "is not valid"} {
		t.Run(link, func(t *testing.T) {
			u := newTestUI(t)
			u.update(sample())
			u.opener.openLink(link)
			pagetest.Shows(t, u.messages.toast, want)
		})
	}
}
