package catalog

// The arguments of the tools for files. The tool file has them all in one.
type (
	readIn struct {
		FileID   string   `json:"file_id,omitempty" jsonschema:"continues a file of an earlier call"`
		Target   *Target  `json:"target,omitempty" jsonschema:"the machine; required without file_id"`
		Path     string   `json:"path,omitempty" jsonschema:"absolute path on the machine; required without file_id"`
		Offset   int64    `json:"offset,omitempty" jsonschema:"first byte to read, to resume; encoding base64 only"`
		Encoding encoding `json:"encoding,omitempty" jsonschema:"base64 (default) returns chunk_b64, utf8 returns chunk"`
		MaxBytes int      `json:"max_bytes,omitempty" jsonschema:"bytes of this part, at most 1048576; default 262144"`
	}
	writeIn struct {
		FileID         string   `json:"file_id,omitempty" jsonschema:"continues a file of an earlier call"`
		Target         *Target  `json:"target,omitempty" jsonschema:"the machine; required without file_id"`
		Path           string   `json:"path,omitempty" jsonschema:"absolute path on the machine; required without file_id"`
		Mode           string   `json:"mode,omitempty" jsonschema:"octal permissions; default 0644 for a new file"`
		Encoding       encoding `json:"encoding,omitempty" jsonschema:"utf8 for chunk, base64 for chunk_b64; may be left out"`
		Chunk          *string  `json:"chunk,omitempty" jsonschema:"the next part, as text; at most 1 MiB"`
		ChunkB64       *string  `json:"chunk_b64,omitempty" jsonschema:"the next part, in Base64; at most 1 MiB"`
		Done           bool     `json:"done,omitempty" jsonschema:"this is the last part: replace the file in one step"`
		ExpectedSHA256 string   `json:"expected_sha256,omitempty" jsonschema:"write only if the file has this SHA-256; absent: only if there is no file"`
	}
	editIn struct {
		Target         *Target    `json:"target,omitempty" jsonschema:"the machine"`
		Path           string     `json:"path,omitempty" jsonschema:"absolute path on the machine"`
		OldString      *string    `json:"old_string,omitempty" jsonschema:"the exact text to replace; it must be unique unless replace_all is set"`
		NewString      *string    `json:"new_string,omitempty" jsonschema:"the replacement"`
		ReplaceAll     bool       `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
		Edits          []editStep `json:"edits,omitempty" jsonschema:"several replacements instead, made in order: all or none"`
		ExpectedSHA256 string     `json:"expected_sha256,omitempty" jsonschema:"edit only if the file has this SHA-256"`
	}
	editStep struct {
		OldString      string `json:"old_string" jsonschema:"the exact text to replace"`
		NewString      string `json:"new_string" jsonschema:"the replacement"`
		ReplaceAll     bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
		ExpectedSHA256 string `json:"expected_sha256,omitempty" jsonschema:"of the file before all edits; the same in each"`
	}
	listIn struct {
		Target    *Target `json:"target" jsonschema:"the machine"`
		Path      string  `json:"path" jsonschema:"absolute path of a folder"`
		Recursive bool    `json:"recursive,omitempty" jsonschema:"list everything below it too"`
		Limit     int     `json:"limit,omitempty" jsonschema:"maximum number of entries, at most 100000; default 10000"`
	}
	statIn struct {
		Target *Target `json:"target" jsonschema:"the machine"`
		Path   string  `json:"path" jsonschema:"absolute path; a symbolic link is described itself"`
	}
	deleteIn struct {
		Target    *Target `json:"target" jsonschema:"the machine"`
		Path      string  `json:"path" jsonschema:"absolute path of a file or folder"`
		Recursive bool    `json:"recursive,omitempty" jsonschema:"needed for a folder that is not empty"`
		Force     bool    `json:"force,omitempty" jsonschema:"needed to delete a folder less than three levels deep with recursive"`
	}
	mkdirIn struct {
		Target    *Target `json:"target" jsonschema:"the machine"`
		Path      string  `json:"path" jsonschema:"absolute path of the new folder"`
		Mode      string  `json:"mode,omitempty" jsonschema:"octal permissions; default 0755"`
		Recursive bool    `json:"recursive,omitempty" jsonschema:"create the folders above it too; an existing folder is no error"`
	}
	globIn struct {
		Target  *Target `json:"target" jsonschema:"the machine"`
		Path    string  `json:"path" jsonschema:"absolute path of the folder to search in"`
		Pattern string  `json:"pattern" jsonschema:"pattern relative to path, such as **/*.go or src/*.{ts,tsx}"`
		Hidden  *bool   `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot"`
		Ignored *bool   `json:"ignored,omitempty" jsonschema:"false leaves out .git and what .gitignore names"`
	}
	grepIn struct {
		Target     *Target `json:"target" jsonschema:"the machine"`
		Path       string  `json:"path" jsonschema:"absolute path of a folder or file to search in"`
		Pattern    string  `json:"pattern" jsonschema:"regular expression, matched line by line"`
		Include    string  `json:"include,omitempty" jsonschema:"only files whose name matches, such as *.md"`
		IgnoreCase bool    `json:"ignore_case,omitempty" jsonschema:"ignore the case of letters"`
		Before     int     `json:"before,omitempty" jsonschema:"lines before each match, at most 20"`
		After      int     `json:"after,omitempty" jsonschema:"lines after each match, at most 20"`
		MaxMatches int     `json:"max_matches,omitempty" jsonschema:"at most 100000; default 1000"`
		Hidden     *bool   `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot"`
		Ignored    *bool   `json:"ignored,omitempty" jsonschema:"false leaves out .git and what .gitignore names"`
	}
)

// The results of the tools for files.
type (
	readOut struct {
		FileID     string  `json:"file_id" jsonschema:"for the next part"`
		Path       string  `json:"path"`
		ChunkB64   *string `json:"chunk_b64,omitempty" jsonschema:"the part, in Base64"`
		Chunk      *string `json:"chunk,omitempty" jsonschema:"the part, as text"`
		Offset     int64   `json:"offset" jsonschema:"where the part begins"`
		Size       int     `json:"size" jsonschema:"bytes of the part"`
		Total      int64   `json:"total" jsonschema:"bytes of the file"`
		SHA256     string  `json:"sha256" jsonschema:"of the parts delivered so far"`
		Done       bool    `json:"done" jsonschema:"this is the last part"`
		DurationMs int64   `json:"duration_ms"`
	}
	writeOut struct {
		FileID     string `json:"file_id" jsonschema:"for the next part"`
		Path       string `json:"path"`
		Offset     int64  `json:"offset" jsonschema:"where the part begins"`
		Total      int64  `json:"total" jsonschema:"bytes written so far"`
		SHA256     string `json:"sha256" jsonschema:"of the bytes written so far"`
		Done       bool   `json:"done" jsonschema:"the file was replaced"`
		DurationMs int64  `json:"duration_ms"`
	}
	editOut struct {
		Path         string `json:"path"`
		EditsApplied int    `json:"edits_applied" jsonschema:"number of edits that were made"`
		Total        int64  `json:"total" jsonschema:"bytes of the file after the edit"`
		SHA256       string `json:"sha256" jsonschema:"of the file after the edit"`
		OldSize      int64  `json:"old_size" jsonschema:"bytes of the file before the edit"`
		OldSHA256    string `json:"old_sha256" jsonschema:"of the file before the edit"`
		DurationMs   int64  `json:"duration_ms"`
	}
	fileEntry struct {
		Name  string `json:"name"`
		Path  string `json:"path,omitempty" jsonschema:"absolute, in a recursive listing"`
		Size  int64  `json:"size"`
		Mode  string `json:"mode" jsonschema:"octal"`
		MTime int64  `json:"mtime" jsonschema:"Unix time in seconds"`
		IsDir bool   `json:"is_dir"`
		Error string `json:"error,omitempty" jsonschema:"why a folder could not be read"`
	}
	listOut struct {
		Path       string      `json:"path"`
		Entries    []fileEntry `json:"entries"`
		Count      int         `json:"count"`
		Truncated  bool        `json:"truncated,omitempty" jsonschema:"there are more entries than the limit"`
		DurationMs int64       `json:"duration_ms"`
	}
	statOut struct {
		Path       string    `json:"path"`
		Entry      fileEntry `json:"entry"`
		DurationMs int64     `json:"duration_ms"`
	}
	pathOut struct {
		Path       string `json:"path"`
		DurationMs int64  `json:"duration_ms"`
	}
	fetchOut struct {
		Path       string `json:"path"`
		Total      int64  `json:"total"`
		SHA256     string `json:"sha256"`
		DurationMs int64  `json:"duration_ms"`
	}
	globOut struct {
		Path       string   `json:"path"`
		Matches    []string `json:"matches" jsonschema:"absolute paths, newest first"`
		Count      int      `json:"count"`
		Truncated  bool     `json:"truncated,omitempty" jsonschema:"only the newest 10000 are listed"`
		LeftOut    []string `json:"left_out,omitempty" jsonschema:"places of keys and tokens that were not searched"`
		DurationMs int64    `json:"duration_ms"`
	}
	grepMatch struct {
		Path   string   `json:"path"`
		Line   int      `json:"line"`
		Text   string   `json:"text" jsonschema:"the first 200 characters of the line"`
		Before []string `json:"before,omitempty"`
		After  []string `json:"after,omitempty"`
	}
	grepOut struct {
		Path       string      `json:"path"`
		Matches    []grepMatch `json:"matches,omitempty" jsonschema:"without streaming; in no order"`
		Count      int         `json:"count"`
		Files      int         `json:"files" jsonschema:"number of files with matches"`
		Truncated  bool        `json:"truncated,omitempty" jsonschema:"the search ended at max_matches"`
		LeftOut    []string    `json:"left_out,omitempty" jsonschema:"places of keys and tokens that were not searched"`
		DurationMs int64       `json:"duration_ms"`
	}
)
