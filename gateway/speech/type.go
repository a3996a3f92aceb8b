package speech

import (
	"net/http"
	"strings"
)

// Type returns the MIME type of a recording; ok is false for other data. Servers and programs use
// different names for one type, and some formats are also used for video.
func Type(declared string, data []byte) (kind string, ok bool) {
	kind = http.DetectContentType(data)
	declared, _, _ = strings.Cut(strings.ToLower(declared), ";")
	declared = strings.TrimSpace(declared)
	switch {
	case strings.HasPrefix(kind, "audio/") || kind == "application/ogg":
		return kind, true
	case !strings.HasPrefix(declared, "audio/"):
		return "", false
	case kind == "video/mp4":
		return "audio/mp4", true
	case kind == "video/webm":
		return "audio/webm", true
	case len(data) > 3 && string(data[:4]) == "fLaC":
		return "audio/flac", true
	case len(data) > 1 && data[0] == 0xff && data[1]&0xe0 == 0xe0:
		return "audio/mpeg", true // without a leading tag
	}
	return "", false
}
