package wording

import (
	"strings"
)

// MaxSlug is the limit of the open Agent Skills format, and of the gateway for names of accounts.
const MaxSlug = 64

// Slug derives an identifier of letters, digits and extra characters, with hyphens for all others.
func Slug(name, extra string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(extra, r) {
			b.WriteRune(r)
		} else if !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	return strings.Trim(s[:min(len(s), MaxSlug)], "-")
}
