package catalog

// The arguments of the tools for files. The tool file has them all in one.
type (
	readIn struct {
		FileID   string   `json:"file_id,omitempty" jsonschema:"continues a file, without target"`
		Target   *Target  `json:"target,omitempty" jsonschema:"the machine"`
		Path     string   `json:"path,omitempty" jsonschema:"absolute"`
		Offset   int64    `json:"offset,omitempty" jsonschema:"first byte; base64 only"`
		Encoding encoding `json:"encoding,omitempty" jsonschema:"default base64"`
		MaxBytes int      `json:"max_bytes,omitempty" jsonschema:"at most 1048576; default 262144"`
	}
	writeIn struct {
		FileID         string   `json:"file_id,omitempty" jsonschema:"continues a file, without target"`
		Target         *Target  `json:"target,omitempty" jsonschema:"the machine"`
		Path           string   `json:"path,omitempty" jsonschema:"absolute"`
		Mode           string   `json:"mode,omitempty" jsonschema:"octal; default 0644"`
		Encoding       encoding `json:"encoding,omitempty" jsonschema:"optional"`
		Chunk          *string  `json:"chunk,omitempty" jsonschema:"next part, at most 1 MiB"`
		ChunkB64       *string  `json:"chunk_b64,omitempty" jsonschema:"the same in Base64"`
		Done           bool     `json:"done,omitempty" jsonschema:"last part"`
		ExpectedSHA256 string   `json:"expected_sha256,omitempty" jsonschema:"of the old file; absent: only a new one"`
	}
	editIn struct {
		Target         *Target    `json:"target,omitempty" jsonschema:"the machine"`
		Path           string     `json:"path,omitempty" jsonschema:"absolute"`
		OldString      *string    `json:"old_string,omitempty" jsonschema:"exact; unique without replace_all"`
		NewString      *string    `json:"new_string,omitempty" jsonschema:"replacement"`
		ReplaceAll     bool       `json:"replace_all,omitempty" jsonschema:"every occurrence"`
		Edits          []editStep `json:"edits,omitempty" jsonschema:"several instead: all or none"`
		ExpectedSHA256 string     `json:"expected_sha256,omitempty" jsonschema:"of the old file"`
	}
	editStep struct {
		OldString      string `json:"old_string"`
		NewString      string `json:"new_string"`
		ReplaceAll     bool   `json:"replace_all,omitempty"`
		ExpectedSHA256 string `json:"expected_sha256,omitempty"`
	}
	listIn struct {
		Target    *Target `json:"target" jsonschema:"the machine"`
		Path      string  `json:"path" jsonschema:"absolute"`
		Recursive bool    `json:"recursive,omitempty" jsonschema:"with everything below"`
		Limit     int     `json:"limit,omitempty" jsonschema:"at most 100000; default 10000"`
	}
	statIn struct {
		Target *Target `json:"target" jsonschema:"the machine"`
		Path   string  `json:"path" jsonschema:"absolute"`
	}
	deleteIn struct {
		Target    *Target `json:"target" jsonschema:"the machine"`
		Path      string  `json:"path" jsonschema:"absolute"`
		Recursive bool    `json:"recursive,omitempty" jsonschema:"for a folder that is not empty"`
		Force     bool    `json:"force,omitempty" jsonschema:"for recursive less than three levels deep"`
	}
	mkdirIn struct {
		Target    *Target `json:"target" jsonschema:"the machine"`
		Path      string  `json:"path" jsonschema:"absolute"`
		Mode      string  `json:"mode,omitempty" jsonschema:"octal; default 0755"`
		Recursive bool    `json:"recursive,omitempty" jsonschema:"with parents; may exist"`
	}
	globIn struct {
		Target  *Target `json:"target" jsonschema:"the machine"`
		Path    string  `json:"path" jsonschema:"absolute"`
		Pattern string  `json:"pattern" jsonschema:"such as **/*.go or src/*.{ts,tsx}"`
		Hidden  *bool   `json:"hidden,omitempty" jsonschema:"false: no dot files"`
		Ignored *bool   `json:"ignored,omitempty" jsonschema:"false: obey .gitignore"`
	}
	grepIn struct {
		Target     *Target `json:"target" jsonschema:"the machine"`
		Path       string  `json:"path" jsonschema:"folder or file"`
		Pattern    string  `json:"pattern" jsonschema:"regular expression"`
		Include    string  `json:"include,omitempty" jsonschema:"such as *.md"`
		IgnoreCase bool    `json:"ignore_case,omitempty" jsonschema:"any case"`
		Before     int     `json:"before,omitempty" jsonschema:"lines, at most 20"`
		After      int     `json:"after,omitempty" jsonschema:"lines, at most 20"`
		MaxMatches int     `json:"max_matches,omitempty" jsonschema:"at most 100000; default 1000"`
		Hidden     *bool   `json:"hidden,omitempty" jsonschema:"false: no dot files"`
		Ignored    *bool   `json:"ignored,omitempty" jsonschema:"false: obey .gitignore"`
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
