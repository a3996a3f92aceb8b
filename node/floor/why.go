package floor

import (
	"os"
	"path/filepath"
	"strings"

	"fairlead/gateway/peer/sensitive"
)

// gitMoments says when Git runs its most common hooks (githooks(5)).
var gitMoments = map[string]string{
	"pre-commit": "runs at your next commit", "commit-msg": "runs at your next commit", "prepare-commit-msg": "runs at your next commit",
	"post-commit": "runs at your next commit", "pre-push": "runs at your next push", "post-checkout": "runs at your next checkout",
	"post-merge": "runs at your next merge or pull", "pre-rebase": "runs at your next rebase",
}

// Why says what a floor file does, as the end of a sentence: "runs at your next commit".
func Why(path string) string {
	if when := gitMoments[filepath.Base(path)]; when != "" {
		return when
	}
	home, _ := os.UserHomeDir()
	if e, ok := sensitive.Find(filepath.ToSlash(path), filepath.ToSlash(home), sensitive.Startup); ok {
		return "can start programs later (" + e.Program() + ")"
	}
	if strings.HasSuffix(path, ".pth") {
		return "runs at every start of Python"
	}
	return "can start programs later"
}
