// Package locale prepares the language for the toolkit. It must be initialised before the toolkit,
// which logs an error for the locale C.UTF-8: packages without imports of their own are, in the
// order of their paths.
package locale

import (
	"cmp"
	"os"
	"strings"
)

func init() {
	name := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	if strings.HasPrefix(name, "C.") && os.Getenv("LANGUAGE") == "" {
		os.Setenv("LANGUAGE", "en")
	}
}
