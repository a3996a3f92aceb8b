package policy

import "testing"

// TestLoneFolderOfRcloneNeedsApproval: rclone with one folder may read or change everything in it,
// whatever the missing folder would have been.
func TestLoneFolderOfRcloneNeedsApproval(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{
		`{"default":"allow","rules":[{"tool":"Read","path":"**/.env","verdict":"deny"}]}`,
		`{"default":"allow","rules":[{"tool":"Write","path":"src/secrets/**","verdict":"deny"}]}`,
		`{"default":"allow","rules":[{"tool":"*","path":"src/secrets/**","verdict":"ask"}]}`,
	} {
		s := must(t, rules)
		for _, command := range []string{"rclone sync src", "rclone move src", "rclone copy src", "rclone sync .", "rclone sync src -v"} {
			if got := s.Decide(corpusCall("bash", command)); got.Verdict != Ask {
				t.Errorf("%s: %s is %s: %s, want %s", rules, command, got.Verdict, got.Reason, Ask)
			}
		}
	}
}
