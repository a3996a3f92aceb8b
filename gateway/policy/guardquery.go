package policy

import (
	"regexp"
	"strings"

	"fairlead/gateway/peer/shell"
)

// sqliteOptions are options of sqlite3 that only change its output or restrict it, and the number of
// their values.
var sqliteOptions = map[string]int{
	"ascii": 0, "bail": 0, "batch": 0, "box": 0, "column": 0, "csv": 0, "echo": 0, "header": 0, "noheader": 0, "html": 0, "json": 0, "line": 0, "list": 0,
	"markdown": 0, "quote": 0, "table": 0, "tabs": 0, "stats": 0, "readonly": 0, "safe": 0, "nofollow": 0, "newline": 1, "nullvalue": 1, "separator": 1,
}

var (
	// sqliteCommand matches the commands of sqlite3 that only print.
	sqliteCommand = regexp.MustCompile(`^\.(tables?|schema|fullschema|dump|index(es)?|databases|headers? (on|off)|mode \w+|width [\d ]+|timer (on|off)|dbinfo)( [\w%]+)?$`)
	// sqliteStatement matches the beginnings of texts that may be queries and changes.
	sqliteStatement = regexp.MustCompile(`(?i)^\s*(select|with|explain|values|pragma|insert|update|delete|replace|create|drop|alter|begin|analyze|reindex)\b`)
	// sqliteFiles matches texts that may open, read or write another file, or run code. A line that begins
	// with a dot may be a command of sqlite3.
	sqliteFiles = regexp.MustCompile(`(?i)attach|vacuum|load_extension|readfile|writefile|\bedit\b|fsdir|lsmode|zipfile|tokeniz|virtual|sqlite_db|dbpage|shell_|\bcsv\b|usleep|pragma|\n\s*\.`)
	// sqlitePragma matches those that only print.
	sqlitePragma = regexp.MustCompile(`(?i)^\s*pragma\s+(table_info|table_xinfo|table_list|index_list|index_info|index_xinfo|foreign_key_list|foreign_key_check|` +
		`database_list|compile_options|user_version|schema_version|integrity_check|quick_check|page_count|page_size|encoding)\s*(\(\s*['"]?\w+['"]?\s*\))?\s*;?\s*$`)
	// sqliteChanges matches texts that may change the database.
	sqliteChanges = regexp.MustCompile(`(?i)\b(insert|update|delete|replace\s+into|create|drop|alter|reindex|analyze|begin|commit)\b`)
)

// addQuery reports whether a command of sqlite3, on a machine that contains commands, only queries or
// changes a database of the workspace, by texts that open no other file and run no code. It adds the
// database as a file that is written.
func (g *guards) addQuery() bool {
	if !g.resolver.call.Contained {
		return false
	}
	var database shell.Word
	texts, isReading := 0, true
	for i := 1; i < len(g.Words); i++ {
		w := g.Words[i]
		switch {
		case w.Dynamic || w.Ambiguous || w.Glob:
			return false
		case strings.HasPrefix(w.Text, "-"):
			name := strings.TrimLeft(w.Text, "-")
			n, known := sqliteOptions[name]
			if i += n; !known || i >= len(g.Words) {
				return false
			}
		case database.Text == "":
			if database = w; w.Text != ":memory:" && (strings.Contains(w.Text, ":") || !g.resolver.isInside(w)) {
				return false
			}
		case strings.HasPrefix(w.Text, "."):
			if texts++; !sqliteCommand.MatchString(w.Text) {
				return false
			}
		default:
			if texts++; !sqliteStatement.MatchString(w.Text) || sqliteFiles.MatchString(w.Text) && !sqlitePragma.MatchString(w.Text) {
				return false
			}
			isReading = isReading && !sqliteChanges.MatchString(w.Text)
		}
	}
	if !isReading && database.Text != ":memory:" {
		g.list = append(g.list, guard{at: exactOnly, containable: true, files: []shell.Word{database}, reason: "sqlite3 may change " + shorten(database.Text)})
	}
	return texts > 0
}
