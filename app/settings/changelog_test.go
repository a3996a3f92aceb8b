package settings

import "testing"

func TestTheChangesOfAVersionAreFound(t *testing.T) {
	t.Parallel()
	const log = "# Changelog\n\nIntroduction.\n\n## 0.2.0 (not released yet)\n\n### Added\n\n- B\n\n## 0.1.0\n\n- A\n"
	for version, want := range map[string]string{"0.2.0": "### Added\n\n- B", "0.1.0": "- A", "dev": "### Added\n\n- B"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			if got := ChangesOf(log, version); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if got := ChangesOf("# Changelog\n", "1"); got != "" {
		t.Errorf("an empty changelog has %q, want nothing", got)
	}
}
