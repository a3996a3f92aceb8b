package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// toolkitField finds fields and menus of the toolkit, which hold back shortcuts and look different.
var toolkitField = regexp.MustCompile(`\bwidget\.(NewEntry|NewPasswordEntry|NewMultiLineEntry|Entry\b|NewSelect|Select\b)`)

func TestFieldsUseOwnWidgets(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasPrefix(path, "widgets"+string(filepath.Separator)) || path == "fields_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if found := toolkitField.Find(text); found != nil {
			t.Errorf("%s uses %s, want the one of app/widgets", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
